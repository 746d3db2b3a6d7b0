// mbarrier: a barrier object in shared memory. Its 64 bits are opaque to programs; here bits 0-19 hold the
// arrivals that the phase still waits for, 20-39 the arrivals that a phase takes, 40-62 the bytes that
// asynchronous copies still owe, and 63 the parity of the current phase. An arrival is a release of what the
// thread did before, a successful test an acquire of what all arrivals of the phase released.
#include "emulator/src/exec/lanes.h"
#include "emulator/src/exec/tables.h"
#include "emulator/src/exec/undefined.h"
#include "emulator/src/races/races.h"

namespace emulator::exec {
namespace EMULATOR_ISA {
namespace {

constexpr u64 kCount = 0xfffff;
constexpr u64 kBytes = 0x7fffff;

struct Object {
    u64 pending, expected, owed;
    bool odd;
};
Object unpack(u64 bits) {
    return {bits & kCount, (bits >> 20) & kCount, (bits >> 40) & kBytes, (bits >> 63) != 0};
}
u64 pack(const Object& o) {
    return o.pending | o.expected << 20 | o.owed << 40 | static_cast<u64>(o.odd) << 63;
}

// The object's offset in shared memory; false after a fault.
bool locate_lane(Warp& w, const Instr& in, int lane, bool initialised, u64& at) {
    at = lane_value(w, in.source(0), lane) + static_cast<u64>(in.imm);
    if (!in.source(0).is_wide()) at = static_cast<u32>(at);
    if (is_shared_window(at)) at -= kSharedWindow;
    if (at + 8 > w.block->shared_bytes) {
        report_bad_shared(w, in, lane, at, 8, true);
        return false;
    }
    if (at & 7) {
        report_misaligned(w, in, lane, at, 8, true, "shared memory");
        return false;
    }
    if (initialised && w.launch->check_initialised && !all_bits(w.block->shared_written, at, 8)) {
        report(w, "uninitialised-read", in, lane, "uses an mbarrier that mbarrier.init never made", true);
        return false;
    }
    return true;
}
// The same for every lane of exec.
bool locate(Warp& w, const Instr& in, Mask exec, bool initialised, u64* addresses) {
    bool ok = true;
    for_lanes(exec, [&](int i) { ok = ok && locate_lane(w, in, i, initialised, addresses[i]); });
    if (ok && w.launch->check_races) races::shared_access(w, in, exec, addresses, 8, races::Kind::atomic);
    return ok && !w.launch->stopped;
}
// Once for every object that lanes of exec name.
template <class F>
void each_object(Mask exec, const u64* addresses, F&& body) {
    u64 last = ~u64{0};
    for_lanes(exec, [&](int i) {
        if (addresses[i] != last) body(static_cast<u32>(addresses[i]));
        last = addresses[i];
    });
}
Object load(Warp& w, u64 at) {
    u64 bits;
    std::memcpy(&bits, w.block->shared + at, 8);
    return unpack(bits);
}
void store(Warp& w, u64 at, const Object& o) {
    const u64 bits = pack(o);
    std::memcpy(w.block->shared + at, &bits, 8);
    w.block->writes += 1;
}
void finish_phase(Warp& w, u64 at, Object& o) {
    if (o.pending != 0 || o.owed != 0) return;
    o.pending = o.expected;
    o.odd = !o.odd;
    races::mbarrier_complete(*w.block, static_cast<u32>(at));
}

void init(Warp& w, const Instr& in, Mask exec) {
    u64 addresses[kLanes] = {};
    if (!locate(w, in, exec, false, addresses)) return;
    for_lanes(exec, [&](int i) {
        const u64 at = addresses[i];
        const u64 n = lane_value(w, in.source(1), i) & kCount;
        store(w, at, {n, n, 0, false});
        set_bits(w.block->shared_written, at, 8);
    });
}
void inval(Warp& w, const Instr& in, Mask exec) {
    u64 addresses[kLanes] = {};
    if (!locate(w, in, exec, true, addresses)) return;
    for_lanes(exec, [&](int i) { clear_bits(w.block->shared_written, addresses[i], 8); });
}
// sub: 0 arrive, 1 arrive_drop, 2 expect_tx alone, 3 complete_tx alone; sub2 bit 0: a count or byte operand
// is given, bit 1: .expect_tx. Sources: address, (operand). The result, when there is one, is the state.
void arrive(Warp& w, const Instr& in, Mask exec) {
    u64 addresses[kLanes] = {};
    if (!locate(w, in, exec, true, addresses)) return;
    if (in.sub <= 1 && w.launch->check_races)
        each_object(exec, addresses, [&](u32 at) { races::mbarrier_arrive(w, at); });
    for_lanes(exec, [&](int i) {
        if (w.launch->stopped) return;
        const u64 at = addresses[i];
        Object o = load(w, at);
        const u64 state = pack(o);
        const u64 operand = (in.sub2 & 1) ? lane_value(w, in.source(1), i) : 1;
        const bool tx = (in.sub2 & 2) != 0;
        if (in.sub == 2 || tx) o.owed = (o.owed + operand) & kBytes;
        if (in.sub == 3) o.owed = (o.owed - operand) & kBytes;
        if (in.sub <= 1) {
            const u64 n = tx ? 1 : operand;
            if (n > o.pending) {
                report(w, "illegal-instruction", in, i, "more arrivals at an mbarrier than its phase takes",
                       true);
                return;
            }
            o.pending -= n;
            if (in.sub == 1) o.expected -= n;
        }
        finish_phase(w, at, o);
        store(w, at, o);
        if (in.destinations) set_lane(w, in.destination(0), i, state);
    });
}
// test_wait and try_wait. sub 1: the operand is a parity instead of a state.
void test(Warp& w, const Instr& in, Mask exec) {
    Mask done = 0;
    u64 addresses[kLanes] = {};
    if (!locate(w, in, exec, true, addresses)) return;
    for_lanes(exec, [&](int i) {
        const Object o = load(w, addresses[i]);
        const u64 operand = lane_value(w, in.source(1), i);
        const bool asked = in.sub == 1 ? (operand & 1) != 0 : (operand >> 63) != 0;
        if (o.odd != asked) done |= Mask{1} << i;
    });
    if (done && w.launch->check_races)
        each_object(done, addresses, [&](u32 at) { races::mbarrier_acquire(w, at); });
    sync_read(w, in, exec, addresses, true);
    w.polls_in_vain = done != exec;
    set_predicate(w, in.destination(0), exec, done);
}
void pending_count(Warp& w, const Instr& in, Mask exec) {
    for_lanes(exec, [&](int i) {
        set_lane(w, in.destination(0), i, unpack(lane_value(w, in.source(0), i)).pending);
    });
}

// cp.async.mbarrier.arrive: the lane's copies land, then (sub 1: .noinc) count as an arrival; without .noinc
// the expected arrival was added by the instruction itself.
void copy_arrive(Warp& w, const Instr& in, Mask exec) {
    land_copies(w, exec);
    u64 addresses[kLanes] = {};
    if (!locate(w, in, exec, true, addresses)) return;
    if (w.launch->check_races) each_object(exec, addresses, [&](u32 at) { races::mbarrier_arrive(w, at); });
    if (in.sub != 1) return;
    for_lanes(exec, [&](int i) {
        if (w.launch->stopped) return;
        const u64 at = addresses[i];
        Object o = load(w, at);
        if (o.pending == 0) {
            report(w, "illegal-instruction", in, i, "more arrivals at an mbarrier than its phase takes",
                   true);
            return;
        }
        o.pending -= 1;
        finish_phase(w, at, o);
        store(w, at, o);
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
