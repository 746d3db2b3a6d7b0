// Data races, by happens-before. Every access to shared memory and to global memory that the launch may
// write leaves a record per 4-byte granule; an access that conflicts with a recorded one and is not ordered
// after it is a race. The head of races.cc says which orders are known.
#pragma once

#include <cstdint>

#include "emulator/src/exec/state.h"

namespace emulator::races {

enum class Kind : std::uint8_t { read, write, atomic, compare_and_swap };

// `addresses` of lanes in exec; for shared memory offsets. Call before the memory changes. `data`: the bytes
// that each lane is about to store (`stride` apart), or null: taken from the instruction's source registers.
void shared_access(exec::Warp& warp, const exec::Instr& instr, exec::Mask exec,
                   const std::uint64_t* addresses, std::uint32_t bytes, Kind kind,
                   const std::byte* data = nullptr, std::uint32_t stride = 0);
void global_access(exec::Warp& warp, const exec::Instr& instr, exec::Mask exec, Buffer& buffer,
                   const std::uint64_t* addresses, std::uint32_t bytes, Kind kind,
                   const std::byte* data = nullptr, std::uint32_t stride = 0);

// Synchronisation. A sync-relevant access (atomic, volatile, acquire, release) to `address`: a read takes
// note of what was released there, a write releases what the warp has published. `block_scope`: .cta, which
// is no synchronisation between blocks.
void acquire(exec::Warp& warp, bool shared, std::uint64_t address, bool block_scope);
void release(exec::Warp& warp, bool shared, std::uint64_t address, bool block_scope);
// The acquiring side of .acquire and of a fence: what was noted is ordered before what follows.
void acquire_noted(exec::Warp& warp, bool block_scope);
// The releasing side of .release and of a fence: publishes what is ordered before it.
void publish_all(exec::Warp& warp, bool block_scope);
void warp_sync(exec::Warp& warp, exec::Mask lanes);  // bar.warp.sync of these lanes together
void barrier(exec::Block& block, const std::vector<std::uint32_t>& arrivals,
             const std::vector<std::uint32_t>& waiters);  // warp numbers; waiters are among the arrivals

// mbarrier objects, by offset in shared memory.
void mbarrier_arrive(exec::Warp& warp, std::uint32_t address);
void mbarrier_complete(exec::Block& block, std::uint32_t address);
void mbarrier_acquire(exec::Warp& warp, std::uint32_t address);

// Stands for data that is not known yet (an asynchronous copy): never equal to what is there.
extern const std::byte* const kUnknownData;

void start_block(exec::Block& block);
void end_launch(exec::Launch& launch);  // reports what only the end can tell
std::size_t shared_shadow_bytes(std::uint32_t shared_bytes);

}  // namespace emulator::races
