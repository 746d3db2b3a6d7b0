// Counters of some blocks of a grid, scaled to the whole grid. What was counted on every block is `exact`;
// what was scaled is `modelled`, because blocks need not be alike.
#pragma once

#include <cstdint>

#include "emulator/counters.h"

namespace kernelwright {

// `counted_blocks` of `total_blocks` were executed. Sums grow in proportion; the figures of "the one warp
// that did most" stay. Distinct sectors cannot be more than the sectors that were asked for, nor more than
// `buffer_bytes` (the size of all buffers that the kernel may touch; 0: unknown).
emulator::Counters scale_to_grid(const emulator::Counters& counted, std::uint64_t counted_blocks,
                                 std::uint64_t total_blocks, std::uint64_t buffer_bytes = 0);

}  // namespace kernelwright
