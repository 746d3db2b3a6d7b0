// The mbarrier instructions: addresses, checks and lanes. The object itself is launch/mbarrier's.
#include "emulator/src/launch/mbarrier.h"

#include "emulator/src/exec/lanes.h"
#include "emulator/src/exec/tables.h"
#include "emulator/src/exec/undefined.h"
#include "emulator/src/races/races.h"

namespace emulator::exec {
namespace EMULATOR_ISA {
namespace {

struct Place {
    Block* home = nullptr;
    u32 at = 0;
};

// Where a lane's object lies; home stays null after a fault.
Place locate(Warp& w, const Instr& in, int lane) {
    u64 at = lane_value(w, in.source(0), lane) + static_cast<u64>(in.imm);
    if (!in.source(0).is_wide()) at = static_cast<u32>(at);
    if (is_shared_window(at)) at -= kSharedWindow;
    Block* home = w.block;
    if (in.has(flag::in_cluster)) {
        home = home_of(w, in, lane, at);
        if (!home) return {};
    } else {
        at -= w.block->shared_base;
    }
    if (is_beyond(at, 8, home->shared_bytes)) {
        report_bad_shared(w, in, lane, at, 8, true);
        return {};
    }
    if (at & 7) {
        report_misaligned(w, in, lane, at, 8, true, "shared memory");
        return {};
    }
    return {home, static_cast<u32>(at)};
}
// The object of one lane; null after a fault.
Mbarrier* object(Warp& w, const Instr& in, int lane, Place& p) {
    if (w.launch->stopped) return nullptr;
    p = locate(w, in, lane);
    if (!p.home) return nullptr;
    return find_mbarrier(w, in, lane, *p.home, p.at);
}

void init(Warp& w, const Instr& in, Mask exec) {
    for_lanes(exec, [&](int i) {
        if (w.launch->stopped) return;
        const Place p = locate(w, in, i);
        if (!p.home) return;
        make_mbarrier(w, in, i, *p.home, p.at, lane_value(w, in.source(1), i));
    });
}
void inval(Warp& w, const Instr& in, Mask exec) {
    for_lanes(exec, [&](int i) {
        Place p;
        if (!object(w, in, i, p)) return;
        p.home->mbarrier_objects.erase(p.at);
        clear_bits(p.home->shared_written, p.at, 8);
        p.home->writes += 1;
    });
}

// sub: 0 arrive, 1 arrive_drop, 2 expect_tx alone, 3 complete_tx alone; sub2 bit 0: a count or byte operand
// is given, bit 1: .expect_tx, bit 2: .noComplete. Sources: address, (operand). The result, when there is
// one, is the state before.
void arrive(Warp& w, const Instr& in, Mask exec) {
    const ArrivalKind kind{in.sub == 1, (in.sub2 & 4) != 0};
    const Block* released_home = nullptr;
    u32 released = ~0u;
    for_lanes(exec, [&](int i) {
        Place p;
        Mbarrier* m = object(w, in, i, p);
        if (!m) return;
        if (in.sub <= 1 && w.launch->check_races && (released != p.at || released_home != p.home)) {
            // A release of .cta scope is none for the threads of another block.
            races::mbarrier_arrive(w, *p.home, p.at,
                                   in.has(flag::relaxed) || (in.has(flag::block_scope) && p.home != w.block));
            released = p.at;
            released_home = p.home;
        }
        const u64 state = state_of(*m);
        const u64 operand = (in.sub2 & 1) ? static_cast<u32>(lane_value(w, in.source(1), i)) : 1;
        const bool tx = (in.sub2 & 2) != 0;
        if (in.sub >= 2 || tx) {
            const s64 bytes = static_cast<s64>(operand);
            // complete_tx simulates what a copy does; both may complete the phase only at the arrival
            if (!expect_bytes(w, in, i, *p.home, p.at, *m, in.sub == 3 ? -bytes : bytes)) return;
        }
        if (in.sub <= 1 && !exec::arrive(w, in, i, *p.home, p.at, *m, tx ? 1 : operand, kind)) return;
        if (in.destinations) set_lane(w, in.destination(0), i, state);
    });
}

// test_wait and try_wait. sub 1: the operand is a parity instead of a state.
void test(Warp& w, const Instr& in, Mask exec) {
    Mask done = 0;
    u64 addresses[kLanes] = {};
    Place p;
    const Block* acquired_home = nullptr;
    u32 acquired = ~0u;
    for_lanes(exec, [&](int i) {
        Mbarrier* m = object(w, in, i, p);
        if (!m) return;
        addresses[i] = p.at;
        const u64 operand = lane_value(w, in.source(1), i);
        if (in.sub != 1 && ((m->phase - (operand >> 61)) & 7) > 1) {
            report(w, "mbarrier-misuse", in, i,
                   "waits with a state that is of neither the current nor the previous phase of the mbarrier",
                   true);
            return;
        }
        const bool parity = in.sub == 1 ? (operand & 1) != 0 : ((operand >> 61) & 1) != 0;
        if (!phase_has_completed(w, *p.home, p.at, *m, parity)) return;
        done |= Mask{1} << i;
        if (w.launch->check_races && (acquired != p.at || acquired_home != p.home)) {
            if (in.has(flag::relaxed))
                races::mbarrier_note(w, *p.home, p.at);
            else
                races::mbarrier_acquire(w, *p.home, p.at, in.has(flag::block_scope));
            acquired = p.at;
            acquired_home = p.home;
        }
    });
    if (w.launch->stopped || !p.home) return;
    sync_read(w, in, exec, addresses, p.home);
    w.polls_in_vain = done != exec;
    if (done != exec) {
        w.awaited_home = p.home;
        w.last_sync_lane = static_cast<u32>(std::countr_zero(exec & ~done));
        w.awaited = static_cast<u32>(addresses[w.last_sync_lane]);
    }
    set_predicate(w, in.destination(0), exec, done);
}
void pending_count(Warp& w, const Instr& in, Mask exec) {
    for_lanes(exec, [&](int i) {
        set_lane(w, in.destination(0), i, lane_value(w, in.source(0), i) & kMaxArrivals);
    });
}

// cp.async.mbarrier.arrive: the lane's copies land, then (sub 1: .noinc) count as an arrival; without .noinc
// the expected arrival was added by the instruction itself.
void copy_arrive(Warp& w, const Instr& in, Mask exec) {
    land_copies(w, exec);
    for_lanes(exec, [&](int i) {
        Place p;
        Mbarrier* m = object(w, in, i, p);
        if (!m) return;
        if (w.launch->check_races) races::mbarrier_arrive(w, *p.home, p.at, false);
        if (in.sub == 1) exec::arrive(w, in, i, *p.home, p.at, *m, 1, {});
    });
}

const HandlerEntry entries[] = {
    {"mbarrier.init", init},
    {"mbarrier.inval", inval},
    {"mbarrier.arrive", arrive},
    {"mbarrier.test", test},
    {"mbarrier.pending_count", pending_count},
    {"cp.async.mbarrier.arrive", copy_arrive},
};

}  // namespace

HandlerTable mbarrier_handlers() { return {entries, sizeof(entries) / sizeof(entries[0])}; }

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec
