// What the lanes of a warp or the threads of a block do together.
#include "tests/differential/program_generator.h"

namespace emulator::differential {

void Generator::exchange() {
    const Access& e = element();
    const bool barriers = !(wrong_ && random_.one_in(6));
    if (barriers) line("bar.sync 0;");
    line("st.shared.{} [%sown], {};", e.type, registers(e.kind, 1, false));
    if (barriers) line("bar.sync {};", random_.one_in(3) ? 1 : 0);
    line("add.u32 %t0, %t, {};", 1 + random_.below(40));
    line("rem.u32 %t0, %t0, %n;");
    line("mad.lo.u32 %t0, %t0, {}, %shared;", random_.one_in(3) ? 16 : 32);
    line("ld.shared.{} {}, [%t0];", e.type, registers(e.kind, 1, true));
    if (barriers) line("bar.sync 0;");
}

void Generator::reduction_barrier() {
    const std::uint64_t n = program_.block.count();
    if (n % 32 == 0 && random_.one_in(2)) {
        const std::uint64_t number = 2 + random_.below(14);
        switch (random_.below(4)) {
            case 0:
                return line("barrier{}.sync{} {}, {};", expand("{|.cta}"), expand("{|.aligned}"), number, n);
            case 1:
                return line("bar{}.sync {}, {};", expand("{|.cta}"), number, n);
            case 2:
                return line("barrier{}.red.popc{}.u32 {}, {}, {}, {};", expand("{|.cta}"),
                            expand("{|.aligned}"), r(), number, n, operand('p'));
            default:
                return line("bar{}.red.{}.pred {}, {}, {}, {};", expand("{|.cta}"), expand("{and|or}"), p(),
                            number, n, operand('p'));
        }
    }
    switch (random_.below(3)) {
        case 0:
            line("bar.red.popc.u32 {}, 0, {};", r(), operand('p'));
            break;
        case 1:
            line("bar.red.and.pred {}, 0, {};", p(), operand('p'));
            break;
        default:
            line("barrier.red.or.pred {}, 0, {};", p(), operand('p'));
            break;
    }
}

// The first warp only arrives, the others wait for it and read what it wrote.
void Generator::producer() {
    const std::uint64_t n = program_.block.count(), number = 2 + random_.below(14);
    if (n % 32 != 0 || n < 64) return reduction_barrier();
    const std::string wait = label(), end = label();
    const char* const form = random_.one_in(2) ? "bar" : "barrier";
    line("setp.ge.u32 %q, %t, 32;");
    line("@%q bra {};", wait);
    line("st.shared.u32 [%sown+4], {};", r());
    line("{}.{}arrive {}, {};", form, expand("{|cta.}"), number, n);
    line("bra {};", end);
    put(wait + ":");
    line("{}.sync {}, {};", form, number, n);
    line("and.b32 %t0, %t, 31;");
    line("mad.lo.u32 %t0, %t0, 32, %shared;");
    line("ld.shared.u32 {}, [%t0+4];", r());
    put(end + ":");
    line("bar.sync 0;");
}

// Lanes below a limit do something together while the others do something else, or wait elsewhere.
void Generator::partial() {
    const std::string other = label(), end = label();
    if (random_.one_in(4)) {  // one barrier, reached at two places
        condition();
        line("@%q bra {};", other);
        line("bar.warp.sync 0xffffffff;");
        line("bra {};", end);
        put(other + ":");
        compute();
        line("bar.warp.sync 0xffffffff;");
        put(end + ":");
        return;
    }
    const std::uint64_t limit = 1 + random_.below(31);
    const std::uint64_t low = (std::uint64_t{1} << limit) - 1, high = 0xffffffffull & ~low;
    line("setp.ge.u32 %q, %lane, {};", limit);
    line("@%q bra {};", other);
    together(fmt::format("0x{:x}", low));
    if (random_.one_in(2)) together(fmt::format("0x{:x}", low));
    const bool both = random_.one_in(2);
    if (both) line("bra {};", end);
    put(other + ":");
    if (both) together(fmt::format("0x{:x}", high));
    put(end + ":");
}

void Generator::collective() {
    const bool whole = uniform_ && random_.one_in(2);
    if (!whole) line("activemask.b32 %m;");
    together(whole ? "0xffffffff" : "%m");
}

void Generator::together(const std::string& mask) {
    switch (random_.below(10)) {
        case 8:
            line("redux.sync.{}{}{}.f32 {}, {}, {};", expand("{min|max}"), expand("{|.abs}"),
                 expand("{|.NaN}"), r(), r(), mask);
            break;
        case 9:
            line("elect.sync {}|{}, {};", random_.one_in(2) ? "_" : r(), p(), mask);
            break;
        case 0:
        case 1:
            line("shfl.sync.{}.b32 {}{}, {}, {}, {}, {};", expand("{up|down|bfly|idx}"), r(),
                 random_.one_in(2) ? "|" + p() : "", r(),
                 random_.one_in(3) ? r() : fmt::format("{}", random_.below(32)),
                 expand("{0x1f|0|0x181f|0x1c03|0x1000}"), mask);
            break;
        case 2:
            line("vote.sync.{}.pred {}, {}, {};", expand("{all|any|uni}"), p(), operand('p'), mask);
            break;
        case 3:
            line("vote.sync.ballot.b32 {}, {}, {};", r(), operand('p'), mask);
            break;
        case 4:
            line("match.any.sync.{} {}, {}, {};", "b32", r(), r(), mask);
            break;
        case 5:
            line("match.{}, {}, {};",
                 random_.one_in(2) ? "any.sync.b64 " + r() : "all.sync.b64 " + r() + "|" + p(), d(), mask);
            break;
        case 6:
            line("redux.sync.{} {}, {}, {};",
                 expand("{add.u32|min.u32|max.u32|min.s32|max.s32|and.b32|or.b32|xor.b32}"), r(), r(), mask);
            break;
        default:
            line("bar.warp.sync {};", mask);
            break;
    }
}

}  // namespace emulator::differential
