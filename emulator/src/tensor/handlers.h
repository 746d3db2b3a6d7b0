// Handlers of tensor-core instructions (mma, ldmatrix, stmatrix, movmatrix, wmma, wgmma, tcgen05), compiled
// once per ISA.
#pragma once

#include "emulator/src/exec/isa.h"

namespace emulator::exec {
namespace baseline {
HandlerTable tensor_handlers();
HandlerTable wgmma_handlers();
HandlerTable tcgen05_handlers();
}  // namespace baseline
namespace v3 {
HandlerTable tensor_handlers();
HandlerTable wgmma_handlers();
HandlerTable tcgen05_handlers();
}  // namespace v3
namespace v4 {
HandlerTable tensor_handlers();
HandlerTable wgmma_handlers();
HandlerTable tcgen05_handlers();
}  // namespace v4
}  // namespace emulator::exec
