// The executor's inner loops are compiled twice, for baseline x86-64 and for x86-64-v3 (AVX2, FMA); each
// build lives in its own namespace and the one that the processor can run is chosen when a module is
// decoded. EMULATOR_ISA is set per source file by the build (baseline or v3).
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "emulator/src/exec/program.h"

#ifndef EMULATOR_ISA
#define EMULATOR_ISA baseline
#endif

namespace emulator::exec {

struct HandlerEntry {
    const char* name;
    Handler fn;
};
struct HandlerTable {
    const HandlerEntry* entries = nullptr;
    std::size_t count = 0;
};

struct Fragment;
// What one build of the executor offers.
struct HandlerSet {
    std::vector<HandlerTable> tables;
    // Runs the warp's fragments until it blocks, ends or has executed `budget` instructions.
    void (*run_warp)(Warp& warp, std::uint64_t budget) = nullptr;
};

namespace baseline {
HandlerSet handler_set();
}
namespace v3 {
HandlerSet handler_set();
}

const HandlerSet& chosen_handlers();          // by the processor
Handler find_handler(std::string_view name);  // nullptr: none

}  // namespace emulator::exec
