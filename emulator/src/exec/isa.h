// The executor's inner loops are compiled three times, for baseline x86-64, x86-64-v3 (AVX2, FMA) and
// x86-64-v4 (AVX-512); each build lives in its own namespace, and one that the processor can run is chosen
// when a module is decoded. All give the same bits. EMULATOR_ISA is set per source file by the build.
#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_map>

#include "emulator/emulator.h"
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
    std::unordered_map<std::string_view, Handler> handlers;
    // Runs the warp's fragments until it blocks, ends or has executed `budget` instructions.
    void (*run_warp)(Warp& warp, std::uint64_t budget) = nullptr;
};

namespace baseline {
HandlerSet handler_set();
}
namespace v3 {
HandlerSet handler_set();
}
namespace v4 {
HandlerSet handler_set();
}

// Null when this processor cannot run it, or it was not compiled.
const HandlerSet* handlers_of(HostIsa isa);
Handler find_handler(const HandlerSet& set, std::string_view name);  // nullptr: none

}  // namespace emulator::exec
