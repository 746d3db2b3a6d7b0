// The handler tables of the executor's files, and what several of them share.
#pragma once

#include "emulator/src/exec/warp.h"

namespace emulator::exec {
namespace EMULATOR_ISA {

HandlerTable integer_handlers();
HandlerTable float_handlers();
HandlerTable approximate_handlers();
HandlerTable half_handlers();
HandlerTable convert_handlers();
HandlerTable move_handlers();
HandlerTable memory_handlers();
HandlerTable atomic_handlers();
HandlerTable async_handlers();
HandlerTable collective_handlers();
HandlerTable mbarrier_handlers();
HandlerTable video_handlers();
HandlerTable bulk_handlers();

// One element of an atomic operation: the codes of exec/atomic.cc.
std::uint64_t combine(int operation, int kind, bool ftz, std::uint64_t old, std::uint64_t value);

// Lets every outstanding cp.async of these lanes land.
void land_copies(Warp& w, Mask lanes);

// setp and set: combines the comparison with a predicate operand (sub2: 0 none, 1 and, 2 or, 3 xor) and
// writes p and, when there is one, q. With set (imm != 0) writes all ones, 1.0 or zero to a register instead.
void finish_compare(Warp& w, const Instr& in, Mask exec, Mask result);

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec
