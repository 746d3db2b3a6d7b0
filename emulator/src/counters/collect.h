// Sums the counters of single instructions into the published ones.
#pragma once

#include "emulator/src/exec/state.h"

namespace emulator::counters {

void collect(const exec::Launch& launch, Counters& out);

}  // namespace emulator::counters
