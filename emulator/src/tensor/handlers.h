// Handlers of tensor-core instructions (mma, ldmatrix, stmatrix, movmatrix, wmma), compiled once per ISA.
#pragma once

#include "emulator/src/exec/isa.h"

namespace emulator::exec {
namespace baseline {
HandlerTable tensor_handlers();
}
namespace v3 {
HandlerTable tensor_handlers();
}
}  // namespace emulator::exec
