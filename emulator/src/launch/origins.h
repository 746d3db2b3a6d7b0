// Where undefined values came from, lane by lane: lanes of one register may have got theirs at different
// places.
#pragma once

#include "emulator/src/exec/undefined.h"

namespace emulator::exec {

std::uint32_t raw_origin_of(Warp& w, const Slot& slot, int lane);  // kNeverWritten stays
std::uint32_t origin_of(Warp& w, const Instr& in, const Slot& slot, int lane);
// An undefined value of that origin was stored in these bytes.
void note_stored_undefined(Warp& w, const std::uint64_t* bits, std::uint64_t begin, std::uint64_t bytes,
                           std::uint32_t origin);
// These bytes are as if nobody had ever stored an undefined value in them.
void forget_stored_undefined(Warp& w, const std::uint64_t* bits, std::uint64_t begin, std::uint64_t bytes);

}  // namespace emulator::exec
