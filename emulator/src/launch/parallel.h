// Several host threads execute the blocks of one launch.
//
// Their outcome is that of one thread, or it is thrown away: blocks that touch different bytes, or only read
// the same ones, cannot tell in which order they ran. So every thread notes which bytes of global memory its
// blocks read and write (Claims). When all is done without a fault and no byte that one thread wrote was
// touched by another, the counters are added up; otherwise memory goes back to where it was and one thread
// starts over: races between blocks and every other fault are found there, in the order of the seed. Kernels
// with global atomics or volatile accesses, clocks, printf or malloc are left to one thread from the start.
#pragma once

#include "emulator/src/launch/scheduler.h"

namespace emulator::exec {

// May blocks of this launch run on several host threads?
bool can_share_blocks(const Launch& launch);

// Executes the launch's blocks, by Options::host_threads threads where that is allowed and worth it.
void run_blocks(Launch& launch);

}  // namespace emulator::exec
