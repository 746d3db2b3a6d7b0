// Thread-block clusters: numbering, and the barrier that their blocks share.
#pragma once

#include "emulator/src/exec/state.h"

namespace emulator::exec {

Dim3 cluster_count(const Launch& launch);                              // clusters of the grid
Dim3 cluster_index(const Launch& launch, std::uint64_t cluster);       // %clusterid
std::uint64_t cluster_of(const Launch& launch, std::uint64_t linear);  // of a block, by Block::linear

// barrier.cluster: in.sub 0 arrive, 1 wait.
void do_cluster_barrier(Warp& w, Fragment& f, const Instr& in, Mask exec);
// After an arrival or an exit: completes the phase when all threads that have not exited have arrived.
void check_cluster(Cluster& cluster);
// Reports the first thread of the block that waits at the cluster's barrier; false: there is none.
bool report_stuck_cluster(Block& block);

}  // namespace emulator::exec
