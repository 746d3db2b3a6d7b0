// What happens to fragments, frames and barriers; called by the interpreter for the rare instructions.
#pragma once

#include "emulator/src/exec/state.h"

namespace emulator::exec {

// The frame of `function` for `lanes`, called from `parent` (null: a kernel). Null after a stack-overflow
// fault.
Frame* push_frame(Warp& w, const FunctionCode& function, Frame* parent, const Instr* call,
                  std::uint32_t return_pc, Mask lanes);
// The kernel's frame of a warp that ran before, as new.
Frame* reuse_frame(Warp& w, Mask lanes);
void release_frame(Warp& w, Frame* frame);

// Each changes fragments and pcs itself. `f` is the executing fragment, `exec` the lanes that do it.
void do_call(Warp& w, Fragment& f, const Instr& in, Mask exec);
void do_return(Warp& w, Fragment& f, Mask exec);
void do_exit(Warp& w, Fragment& f, Mask exec);
void do_barrier(Warp& w, Fragment& f, const Instr& in, Mask exec);
void do_trap(Warp& w, const Instr& in, Mask exec);
void do_unsupported(Warp& w, const Instr& in, Mask exec);
void do_indexed_branch(Warp& w, Fragment& f, const Instr& in, Mask exec);

// Splits `lanes` off `f` into a new fragment at `pc` of `frame`; f keeps the rest.
Fragment& split(Warp& w, Fragment& f, Mask lanes, Frame* frame, std::uint32_t pc);

// A built-in function: vprintf, malloc, free, __assertfail. Arguments lie in the callers' frames.
void call_builtin(Warp& w, Fragment& f, const Instr& in, const CallSite& site, Mask exec);

// After lanes exited: barriers may now be complete.
void check_barriers(Block& block);

// A hash of everything that decides what the warp does next, memory left out.
std::uint64_t warp_state_hash(const Warp& w);

// The block cannot continue: every live warp waits. Reports why (divergent-barrier, invalid-shuffle,
// deadlock).
void report_stuck(Block& block, const char* rule_when_spinning);

}  // namespace emulator::exec
