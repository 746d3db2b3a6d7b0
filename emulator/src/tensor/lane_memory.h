// Memory accesses of instructions that form their own addresses (ldmatrix, wmma.load ...), one lane at a
// time: the same checks as ordinary loads and stores. load_lane() and store_lane() are declared in warp.h.
#pragma once

#include "emulator/src/exec/warp.h"

namespace emulator::exec {

// After store_lane() of a value whose undefined part came from `origin`: the bytes are undefined again, or,
// in an output, the use is reported.
void store_undefined(Warp& w, const Instr& in, int lane, ptx::Space space, std::uint64_t address,
                     std::uint32_t bytes, std::uint32_t origin);

}  // namespace emulator::exec
