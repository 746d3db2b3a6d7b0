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

void Generator::collective() {
    const bool whole = uniform_ && random_.one_in(2);
    if (!whole) line("activemask.b32 %m;");
    const std::string mask = whole ? "0xffffffff" : "%m";
    switch (random_.below(8)) {
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
