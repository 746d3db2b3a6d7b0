// cp.async. The bytes land in shared memory only when the lane waits for them (as late as the hardware may
// do it), so a missing wait is seen: until then the destination counts as never written.
#include "emulator/src/counters/access.h"
#include "emulator/src/exec/lanes.h"
#include "emulator/src/exec/tables.h"
#include "emulator/src/exec/undefined.h"
#include "emulator/src/launch/origins.h"
#include "emulator/src/races/races.h"

namespace emulator::exec {
namespace EMULATOR_ISA {
namespace {

// sources: shared address, global address, (source size). imm: offset of the shared address, target: bytes
// copied; in.size holds cp-size, sub 1: a source size or ignore-source predicate is given (sub 2).
void copy(Warp& w, const Instr& in, Mask exec) {
    Launch& launch = *w.launch;
    const u32 bytes = in.size;
    alignas(64) u64 to[kLanes] = {}, from[kLanes] = {};
    u32 take[kLanes] = {};
    for_lanes(exec, [&](int i) {
        to[i] = lane_value(w, in.source(0), i) + static_cast<u64>(in.imm);
        if (is_shared_window(to[i])) to[i] -= kSharedWindow;
        to[i] = static_cast<u32>(to[i] - w.block->shared_base);
        from[i] = lane_value(w, in.source(1), i) + in.target;
        take[i] = bytes;
        if (in.sub == 1) take[i] = std::min(bytes, static_cast<u32>(lane_value(w, in.source(2), i)));
        if (in.sub == 2 && ((mask_of(w, in.source(2)) >> i) & 1)) take[i] = 0;
    });
    bool failed = false;
    Mask reads = 0;
    u64 first_read = 0;
    for_lanes(exec, [&](int i) {
        if (failed) return;
        Buffer* b = launch.memory->at(from[i]);
        if (take[i] && (!b || !b->contains(from[i], take[i]))) {
            report_bad_address(w, in, i, from[i], take[i], false);
            failed = true;
        } else if (from[i] & (bytes - 1)) {
            report_misaligned(w, in, i, from[i], bytes, false, "global memory");
            failed = true;
        } else if (is_beyond(to[i], bytes, w.block->shared_bytes)) {
            report_bad_shared(w, in, i, to[i], bytes, true);
            failed = true;
        } else if (to[i] & (bytes - 1)) {
            report_misaligned(w, in, i, to[i], bytes, true, "shared memory");
            failed = true;
        }
        if (!take[i]) return;
        if (!reads) first_read = from[i];
        reads |= Mask{1} << i;
    });
    if (failed) return;
    if (launch.count) {
        if (reads) {
            counters::Shape none;
            none.low = none.high = first_read;
            counters::count_global(w, in, reads, from, bytes, none, counters::common_buffer(w, reads, from),
                                   false);
            w.global_loads += 1;
        }
        launch.async_requests += 1;
        for_lanes(exec, [&](int i) { launch.async_bytes += take[i]; });
    }
    for_lanes(exec, [&](int i) {
        AsyncCopy c;
        c.lane = static_cast<u32>(i);
        c.destination = static_cast<u32>(to[i]);
        c.bytes = bytes;
        c.instr = &in;
        if (take[i]) {
            Buffer* b = launch.memory->at(from[i]);
            b->claim(from[i], take[i], false);
            if (launch.check_races && b->shadow)
                races::global_access(w, in, Mask{1} << i, *b, from, take[i], races::Kind::read);
            if (launch.check_initialised && b->track_initialised &&
                !b->is_written(from[i] - b->address, take[i]))
                c.undefined = true;
            std::memcpy(c.data.data(), b->data() + (from[i] - b->address), take[i]);
        }
        if (launch.check_initialised) {
            clear_bits(w.block->shared_written, to[i], bytes);
            forget_stored_undefined(w, w.block->shared_written, to[i], bytes);
        }
        w.open_group.copies.push_back(c);
        w.open_group.lanes |= Mask{1} << i;
    });
    if (launch.check_races)
        races::shared_access(w, in, exec, *w.block, to, bytes, races::Kind::write, races::kUnknownData, 0);
}

void land(Warp& w, AsyncGroup& group, Mask lanes) {
    Launch& launch = *w.launch;
    for (AsyncCopy& c : group.copies) {
        if (!((lanes >> c.lane) & 1)) continue;
        if (launch.check_races) {
            u64 address[kLanes] = {};
            address[c.lane] = c.destination;
            races::shared_access(w, *c.instr, Mask{1} << c.lane, *w.block, address, c.bytes,
                                 races::Kind::write, c.data.data(), 0);
        }
        std::memcpy(w.block->shared + c.destination, c.data.data(), c.bytes);
        if (!c.undefined) set_bits(w.block->shared_written, c.destination, c.bytes);
        w.block->writes += 1;
    }
    std::erase_if(group.copies, [&](const AsyncCopy& c) { return ((lanes >> c.lane) & 1) != 0; });
    group.lanes &= ~lanes;
}

// Groups are per lane in principle; lanes of a warp that commit together share one.
void commit(Warp& w, const Instr&, Mask exec) {
    AsyncGroup group;
    group.lanes = exec;
    for (AsyncCopy& c : w.open_group.copies)
        if ((exec >> c.lane) & 1) group.copies.push_back(c);
    std::erase_if(w.open_group.copies, [&](const AsyncCopy& c) { return ((exec >> c.lane) & 1) != 0; });
    w.groups.push_back(std::move(group));
}
// imm: how many of the lane's latest groups may stay pending.
void wait_group(Warp& w, const Instr& in, Mask exec) {
    w.launch->clock.pass(200, 400);
    for_lanes(exec, [&](int i) {
        const Mask lane = Mask{1} << i;
        s64 pending = 0;
        for (const AsyncGroup& g : w.groups) pending += (g.lanes & lane) != 0;
        for (AsyncGroup& g : w.groups) {
            if (pending <= in.imm) break;
            if (g.lanes & lane) {
                land(w, g, lane);
                pending -= 1;
            }
        }
    });
    std::erase_if(w.groups, [](const AsyncGroup& g) { return g.lanes == 0; });
}
void wait_all(Warp& w, const Instr&, Mask exec) { land_copies(w, exec); }

const HandlerEntry entries[] = {
    {"cp.async", copy},
    {"cp.async.commit_group", commit},
    {"cp.async.wait_group", wait_group},
    {"cp.async.wait_all", wait_all},
};

}  // namespace

void land_copies(Warp& w, Mask lanes) {
    for (AsyncGroup& g : w.groups) land(w, g, lanes);
    land(w, w.open_group, lanes);
    std::erase_if(w.groups, [](const AsyncGroup& g) { return g.lanes == 0; });
}

HandlerTable async_handlers() { return {entries, sizeof(entries) / sizeof(entries[0])}; }

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec
