#include "emulator/src/launch/async_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emulator/src/exec/tables.h"
#include "emulator/src/exec/undefined.h"
#include "emulator/src/exec/warp.h"
#include "emulator/src/launch/mbarrier.h"
#include "emulator/src/races/races.h"

namespace emulator::exec {

static bool eager(const Launch& launch) { return launch.options->asynchronous == Options::Async::eager; }

void reduce(const Reduction& r, std::byte* memory, const std::byte* data, std::uint32_t bytes) {
    for (std::uint32_t at = 0; at + r.size <= bytes; at += r.size) {
        std::uint64_t old = 0, value = 0;
        std::memcpy(&old, memory + at, r.size);
        std::memcpy(&value, data + at, r.size);
        const std::uint64_t result = EMULATOR_ISA::combine(r.operation, r.kind, r.ftz, old, value);
        std::memcpy(memory + at, &result, r.size);
    }
}

void issue(Warp& w, int lane, Block& home, AsyncLoad load) {
    load.block = w.block->linear;
    load.thread = w.first_thread + static_cast<std::uint32_t>(lane);
    const auto bytes = static_cast<std::uint32_t>(load.data.size());
    if (w.launch->check_initialised && !load.reduction.active)
        clear_bits(home.shared_written, load.destination, bytes);
    w.block->writes += 1;
    if (&home != w.block) home.writes += 1;
    home.arriving.push_back(std::move(load));
    if (eager(*w.launch)) land(home, home.arriving.size() - 1);
}

void land(Block& home, std::size_t index) {
    const AsyncLoad load = std::move(home.arriving[index]);
    home.arriving.erase(home.arriving.begin() + static_cast<std::ptrdiff_t>(index));
    const auto bytes = static_cast<std::uint32_t>(load.data.size());
    std::byte* to = home.shared + load.destination;
    if (load.reduction.active) {
        reduce(load.reduction, to, load.data.data(), bytes);
    } else {
        std::memcpy(to, load.data.data(), bytes);
        if (load.defined.empty()) {
            set_bits(home.shared_written, load.destination, bytes);
        } else {
            for (std::uint32_t i = 0; i < bytes; ++i)
                if (all_bits(load.defined.data(), i, 1))
                    set_bits(home.shared_written, load.destination + i, 1);
        }
    }
    home.writes += 1;
    complete_bytes(load, home);
}

// ---- bulk groups ----

static void read_sources(Block& block, AsyncStore& store) {
    if (store.was_read) return;
    store.was_read = true;
    for (const AsyncStore::Piece& piece : store.pieces)
        store.data.insert(store.data.end(), block.shared + piece.shared,
                          block.shared + piece.shared + piece.bytes);
}
static void land(Block& block, AsyncStore& store) {
    if (store.landed) return;
    read_sources(block, store);
    store.landed = true;
    const std::byte* from = store.data.data();
    for (const AsyncStore::Piece& piece : store.pieces) {
        Buffer* buffer = block.launch->memory->at(piece.global);
        const std::uint64_t offset = piece.global - buffer->address;
        buffer->claim(piece.global, piece.bytes, true);
        if (store.reduction.active)
            reduce(store.reduction, buffer->data() + offset, from, piece.bytes);
        else
            std::memcpy(buffer->data() + offset, from, piece.bytes);
        if (buffer->track_initialised) buffer->mark_written(offset, piece.bytes);
        from += piece.bytes;
    }
    block.writes += 1;
}

void issue(Warp& w, AsyncStore store) {
    w.block->writes += 1;
    if (eager(*w.launch)) land(*w.block, store);
    w.open_stores.push_back(std::move(store));
}

void commit_bulk_group(Warp& w, Mask exec) {
    for_lanes(exec, [&](int lane) {
        BulkGroup group;
        group.lane = static_cast<std::uint32_t>(lane);
        for (AsyncStore& store : w.open_stores)
            if (store.lane == group.lane) group.stores.push_back(std::move(store));
        std::erase_if(w.open_stores, [&](const AsyncStore& s) { return s.lane == group.lane; });
        w.bulk_groups.push_back(std::move(group));
    });
}

void wait_bulk_groups(Warp& w, Mask exec, std::uint64_t pending, bool reads) {
    for_lanes(exec, [&](int lane) {
        std::uint64_t left = 0;
        for (const BulkGroup& group : w.bulk_groups) left += group.lane == static_cast<std::uint32_t>(lane);
        for (BulkGroup& group : w.bulk_groups) {
            if (group.lane != static_cast<std::uint32_t>(lane)) continue;
            if (left <= pending) break;
            left -= 1;
            for (AsyncStore& store : group.stores) {
                if (reads)
                    read_sources(*w.block, store);
                else
                    land(*w.block, store);
                if (!w.launch->check_races) continue;
                races::complete_async(w, store.read_stamp);
                if (!reads) races::complete_async(w, store.write_stamp);
            }
            if (!reads) group.lane = kLanes;  // done
        }
    });
    std::erase_if(w.bulk_groups, [](const BulkGroup& group) { return group.lane == kLanes; });
}

void end_block(Block& block) {
    Launch& launch = *block.launch;
    for (const AsyncLoad& load : block.arriving)
        report_id(launch, "unawaited-copy", load.instr->id, load.block, load.thread,
                  fmt::format("copies {} bytes into the shared memory of a block that ends without having "
                              "waited for them",
                              load.data.size()),
                  false);
    // setmaxnreg is for whole warpgroups.
    constexpr std::size_t kWarpgroup = 4;
    for (std::size_t i = 0; i < block.warps.size(); ++i) {
        const Warp &w = *block.warps[i], &first = *block.warps[i / kWarpgroup * kWarpgroup];
        if (w.register_changes == first.register_changes) continue;
        const Warp& more = w.register_changes > first.register_changes ? w : first;
        report_id(launch, "illegal-instruction", more.register_change->id, block.linear, more.first_thread,
                  "setmaxnreg must be executed by all four warps of a warpgroup, and some of them never do",
                  false);
        break;
    }
    for (const auto& w : block.warps) {
        const auto finish = [&](AsyncStore& store) {
            // An eager copy has read its source long ago, in fact; what the program knows is the same.
            const bool known =
                !launch.check_races || store.pieces.empty() || races::is_complete(*w, store.read_stamp);
            if (!known)
                report_id(launch, "unawaited-copy", store.instr->id, block.linear,
                          w->first_thread + store.lane,
                          "copies out of the shared memory of a block that ends without having waited until "
                          "it was read: cp.async.bulk.wait_group.read 0 must come before the end",
                          false);
            land(block, store);
        };
        for (BulkGroup& group : w->bulk_groups)
            for (AsyncStore& store : group.stores) finish(store);
        for (AsyncStore& store : w->open_stores) finish(store);
        if (launch.stopped) return;
    }
}

}  // namespace emulator::exec
