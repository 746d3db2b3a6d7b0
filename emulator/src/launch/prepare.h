// What a launch keeps beside its buffers while it runs.
#pragma once

#include "emulator/src/exec/state.h"

namespace emulator::exec {

// Logs of sectors and shadows of races, as far as the launch's checks want them.
void prepare_buffers(Launch& launch);
// From now on every access to a writable buffer is claimed.
void start_claims(Launch& launch);
void release_buffers(Launch& launch);

}  // namespace emulator::exec
