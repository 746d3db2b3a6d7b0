// Asynchronous bulk copies: how they land, and what waits for them. With Options::asynchronous late a copy
// lands when a wait relies on it and not before (loads: when that completes the phase of their mbarrier;
// stores: at wait_group, or as their block ends), with eager at once. Either way only a wait orders it
// (races/).
#pragma once

#include "emulator/src/exec/report.h"
#include "emulator/src/exec/state.h"

namespace emulator::exec {

// A load has been issued: its destination becomes undefined; eager: it lands.
void issue(Warp& w, int lane, Block& home, AsyncLoad load);
void land(Block& home, std::size_t index);  // of Block::arriving

// Copies out of shared memory: into the lane's open group, commit, wait.
void issue(Warp& w, AsyncStore store);
void commit_bulk_group(Warp& w, Mask exec);
// All but the latest `pending` groups of each lane are complete; `reads`: their sources have been read.
void wait_bulk_groups(Warp& w, Mask exec, std::uint64_t pending, bool reads);

// Combines `bytes` of elements into memory.
void reduce(const Reduction& r, std::byte* memory, const std::byte* data, std::uint32_t bytes);

// The block has ended: what it should have waited for is a fault, what is left lands.
void end_block(Block& block);

}  // namespace emulator::exec
