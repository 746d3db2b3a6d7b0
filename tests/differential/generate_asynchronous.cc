// Asynchronous copies, mbarriers, and flags that threads poll.
#include "tests/differential/program_generator.h"

namespace emulator::differential {

void Generator::copies() {
    const std::uint64_t n = 1 + random_.below(3);
    const bool waits = !(wrong_ && random_.one_in(4));
    std::uint64_t groups = 0;
    for (std::uint64_t k = 0; k < n; ++k) {
        const unsigned bytes = 4u << random_.below(3);
        address_in("%in", kInputBytes, bytes);
        const std::string place = fmt::format("[%sown+{}]", bytes * random_.below(32 / bytes));
        const std::string form = bytes == 16 && random_.one_in(2) ? "cg" : "ca";
        const std::string hint = expand("{||.L2::64B|.L2::128B|.L2::256B}");
        const std::string space = expand("{shared|shared::cta}");
        const std::string text =
            fmt::format("cp.async.{}.{}.global{} {}, [%a], {}", form, space, hint, place, bytes);
        switch (random_.below(4)) {
            case 0:
                line("and.b32 %t0, {}, 31;", r());
                line("{}{}, %t0;", guard(), text);
                break;
            case 1:
                line("{}{}, {};", guard(), text, p());
                break;
            default:
                line("{}{};", guard(), text);
                break;
        }
        if (random_.one_in(2)) {
            line("cp.async.commit_group;");
            groups += 1;
        }
    }
    if (random_.one_in(3)) compute();
    if (groups > 1 && random_.one_in(2)) line("cp.async.wait_group {};", random_.below(groups));
    if (waits) {
        if (random_.one_in(2)) {
            line("cp.async.wait_all;");
        } else {
            line("cp.async.commit_group;");
            line("cp.async.wait_group 0;");
        }
    }
    line("ld.shared.b32 {}, [%sown+{}];", r(), 4 * random_.below(8));
    if (!uniform_ || !random_.one_in(3)) return;
    line("bar.sync 0;");
    line("add.u32 %t0, %t, {};", 1 + random_.below(40));
    line("rem.u32 %t0, %t0, %n;");
    line("mad.lo.u32 %t0, %t0, 32, %shared;");
    line("ld.shared.b64 {}, [%t0+8];", d());
    line("bar.sync 0;");
}

void Generator::phases() {
    const std::string object = "[%counters+256]";
    const std::uint64_t n = program_.block.count();
    const std::uint64_t way = random_.below(6), rounds = way == 3 ? 1 : 1 + random_.below(2);
    const bool waits = !(wrong_ && random_.one_in(6));
    const std::string space = expand("{.shared|.shared::cta}");
    line("setp.eq.u32 %q, %t, 0;");
    line("@%q mbarrier.init{}.b64 {}, {};", space, object, way == 1 ? 2 * n : way == 2 ? 1 : n);
    line("bar.sync 0;");
    for (std::uint64_t k = 0; k < rounds; ++k) {
        const std::string again = label();
        line("st.shared.u32 [%sown+12], {};", r());
        bool has_state = true;
        switch (way) {
            case 1:
                line("mbarrier.arrive{}{}.b64 %b, {}, 2;", expand("{|.release.cta}"), space, object);
                break;
            case 2:  // one thread announces bytes and all complete them
                line("bar.sync 0;");
                line("setp.eq.u32 %q, %t, 0;");
                line("@%q mbarrier.arrive.expect_tx{}.b64 _, {}, {};", space, object, 16 * n);
                line("bar.sync 0;");
                line("mbarrier.complete_tx{}.b64 {}, 16;", space, object);
                has_state = false;
                break;
            case 3:  // some leave for good
                line("setp.lt.u32 %q, %lane, {};", random_.below(33));
                line("@%q mbarrier.arrive_drop{}.b64 %b, {};", space, object);
                line("@!%q mbarrier.arrive{}.b64 %b, {};", space, object);
                break;
            case 4:
                address_in("%in", kInputBytes, 16);
                line("cp.async.ca.shared.global [%sown], [%a], 16;");
                line("cp.async.mbarrier.arrive.noinc{}.b64 {};", space, object);
                has_state = false;
                break;
            default:
                line("mbarrier.arrive{}.b64 %b, {};", space, object);
                break;
        }
        if (has_state && random_.one_in(3)) line("mbarrier.pending_count.b64 {}, %b;", r());
        if (random_.one_in(3)) compare();
        const bool parity = !has_state || random_.one_in(2);
        if (waits) {
            put(again + ":");
            line("mbarrier.{}{}{}{}.b64 %q, {}, {};", expand("{test_wait|try_wait}"), parity ? ".parity" : "",
                 expand("{|.acquire.cta}"), space, object, parity ? fmt::format("{}", k & 1) : "%b");
            line("@!%q bra {};", again);
        }
        line("add.u32 %t0, %t, {};", 1 + random_.below(40));
        line("rem.u32 %t0, %t0, %n;");
        line("mad.lo.u32 %t0, %t0, 32, %shared;");
        line("ld.shared.u32 {}, [%t0+12];", r());
        line("bar.sync 0;");
    }
    line("setp.eq.u32 %q, %t, 0;");
    line("@%q mbarrier.inval{}.b64 {};", space, object);
    line("bar.sync 0;");
}

void Generator::message() {
    const std::string poll = label(), end = label();
    line("setp.eq.u32 %q, %t, 0;");
    line("@%q st.shared.u32 [%counters+164], 0;");
    line("bar.sync 0;");
    line("setp.ne.u32 %q, %t, 0;");
    line("@%q bra {};", poll);
    line("st.shared.u32 [%counters+160], {};", r());
    const bool fenced = random_.one_in(2);
    if (fenced) {
        line("{};", expand("{membar.cta|fence.acq_rel.cta|fence.acq_rel.gpu|fence.sc.cta}"));
        line("st.{}.shared.u32 [%counters+164], 1;", expand("{volatile|relaxed.cta}"));
    } else {
        line("st.release.cta.shared.u32 [%counters+164], 1;");
    }
    line("bra {};", end);
    put(poll + ":");
    line("ld.{}.shared.u32 %t1, [%counters+164];", fenced ? expand("{volatile|relaxed.cta}") : "acquire.cta");
    line("setp.ne.u32 %q, %t1, 1;");
    line("@%q bra {};", poll);
    if (fenced) line("{};", expand("{membar.cta|fence.acq_rel.cta|fence.sc.cta}"));
    line("ld.shared.u32 {}, [%counters+160];", r());
    put(end + ":");
    line("bar.sync 0;");
}

}  // namespace emulator::differential
