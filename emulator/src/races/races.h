// Data races, by happens-before. Every access to shared memory and to global memory that the launch may
// write leaves a record per 4-byte granule; an access that conflicts with a recorded one and is not ordered
// after it is a race. The head of races.cc says which orders are known.
#pragma once

#include <cstdint>

#include "emulator/src/exec/state.h"

namespace emulator::races {

enum class Kind : std::uint8_t { read, write, atomic, compare_and_swap };

// `addresses` of lanes in exec; for shared memory offsets in that of `home`, a block of the warp's cluster.
// Call before the memory changes. `data`: the bytes
// that each lane is about to store (`stride` apart), or null: taken from the instruction's source registers.
void shared_access(exec::Warp& warp, const exec::Instr& instr, exec::Mask exec, exec::Block& home,
                   const std::uint64_t* addresses, std::uint32_t bytes, Kind kind,
                   const std::byte* data = nullptr, std::uint32_t stride = 0);
void global_access(exec::Warp& warp, const exec::Instr& instr, exec::Mask exec, Buffer& buffer,
                   const std::uint64_t* addresses, std::uint32_t bytes, Kind kind,
                   const std::byte* data = nullptr, std::uint32_t stride = 0);

// Synchronisation. A sync-relevant access (atomic, volatile, acquire, release) to `address`: a read takes
// note of what was released there, a write releases what the warp has published. `home`: the block in whose
// shared memory the address is; null: global memory. `block_scope`: .cta or .cluster, which is no
// synchronisation between clusters.
void acquire(exec::Warp& warp, exec::Block* home, std::uint64_t address, bool block_scope);
void release(exec::Warp& warp, exec::Block* home, std::uint64_t address, bool block_scope);
// The acquiring side of .acquire and of a fence: what was noted is ordered before what follows.
void acquire_noted(exec::Warp& warp, bool block_scope);
// The releasing side of .release and of a fence: publishes what is ordered before it.
void publish_all(exec::Warp& warp, bool block_scope);
void warp_sync(exec::Warp& warp, exec::Mask lanes);  // bar.warp.sync of these lanes together
void exchange(exec::Warp& warp, exec::Mask lanes);   // a shuffle, vote, match or redux of these lanes
void barrier(exec::Block& block, const std::vector<std::uint32_t>& arrivals,
             const std::vector<std::uint32_t>& waiters);  // warp numbers; waiters are among the arrivals

// mbarrier objects, by offset in the shared memory of `home`. `relaxed`: only what a fence has published is
// ordered before what follows the wait. `own_block`: of those who arrived, only the warps of the mbarrier's
// block count (a wait of .cta scope).
void mbarrier_arrive(exec::Warp& warp, exec::Block& home, std::uint32_t address, bool relaxed);
void mbarrier_complete(exec::Block& home, std::uint32_t address);
void mbarrier_acquire(exec::Warp& warp, exec::Block& home, std::uint32_t address, bool own_block);
// A relaxed wait: a fence that follows acquires.
void mbarrier_note(exec::Warp& warp, exec::Block& home, std::uint32_t address);

// barrier.cluster
void cluster_arrive(exec::Warp& warp, bool relaxed);
void cluster_complete(exec::Cluster& cluster);
void cluster_acquire(exec::Warp& warp);
// Is something that a thread of `other` (of the same cluster) has done ordered before this warp?
bool known_to_have_started(const exec::Warp& warp, const exec::Block& other);

// The async proxy. Its accesses are made for an agent, an entry in clocks: one per mbarrier object, and a few
// per warp. `stamp` (of async_stamp) names one copy; 0: an access that is complete when the
// instruction is (wgmma's operands, when it checks them at its issue), which leaves a record of the warp's.
// `reduction`: element by element, as atomics are. Generic writes to shared memory that come before without a
// fence.proxy.async are reported as missing-proxy-fence, unless the access is not `through_proxy` (st.async).
std::uint32_t mbarrier_agent(exec::Block& home, std::uint32_t address);
enum class Agent : std::uint8_t {  // of a warp
    bulk_reads,
    bulk_writes,
    wgmma,
    tensor_pipe,
    tensor_loads,
    tensor_stores
};
std::uint32_t warp_agent(exec::Warp& warp, Agent which);
std::uint32_t async_stamp(exec::Block& block, std::uint32_t agent);
void async_shared(exec::Warp& warp, const exec::Instr& instr, int lane, exec::Block& home, std::uint32_t at,
                  std::uint32_t bytes, Kind kind, std::uint32_t stamp, bool reduction,
                  bool through_proxy = true);
void async_global(exec::Warp& warp, const exec::Instr& instr, int lane, Buffer& buffer, std::uint64_t address,
                  std::uint32_t bytes, Kind kind, std::uint32_t stamp, bool reduction);
void mbarrier_landed(exec::Block& home, std::uint32_t address, std::uint32_t stamp);
void complete_async(exec::Warp& warp, std::uint32_t stamp);  // a wait of this warp has seen it complete
bool is_complete(const exec::Warp& warp, std::uint32_t stamp);
void proxy_fence(exec::Warp& warp);  // fence.proxy.async of shared memory

// Stands for data that is not known yet (an asynchronous copy): never equal to what is there.
extern const std::byte* const kUnknownData;

void start_cluster(exec::Cluster& cluster);  // before its blocks run
void end_launch(exec::Launch& launch);       // reports what only the end can tell
std::size_t shared_shadow_bytes(std::uint32_t shared_bytes);

}  // namespace emulator::races
