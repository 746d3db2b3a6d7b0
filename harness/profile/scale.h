// Counters of some blocks of a grid, scaled to the whole grid. What was counted on every block is `exact`;
// what was scaled is `modelled`, because blocks need not be alike.
#pragma once

#include <cstdint>

#include "emulator/counters.h"

namespace kernelwright {

// Sizes of the buffers that a kernel may touch, in bytes; 0: unknown.
struct BufferBytes {
    std::uint64_t readable = 0;
    std::uint64_t writable = 0;
};

// `counted_blocks` of `total_blocks` were executed. Sums grow in proportion; the figures of "the one warp
// that did most" stay. Distinct sectors cannot be more than the sectors that were asked for, nor more than
// the buffers hold; where there are fewer of them than blocks, the blocks share them, and they do not grow.
emulator::Counters scale_to_grid(const emulator::Counters& counted, std::uint64_t counted_blocks,
                                 std::uint64_t total_blocks, BufferBytes buffers = {});

}  // namespace kernelwright
