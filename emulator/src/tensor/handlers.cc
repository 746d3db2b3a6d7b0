#include "emulator/src/tensor/handlers.h"

namespace emulator::exec {
namespace EMULATOR_ISA {

HandlerTable tensor_handlers() { return {}; }

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec
