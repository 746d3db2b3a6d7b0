// A module's variables in a Memory.
#pragma once

#include "emulator/src/exec/program.h"
#include "emulator/src/memory/buffers.h"

namespace emulator {

struct Module::Impl {
    ptx::Module text;
    exec::Program program;
    std::vector<KernelInfo> kernels;
    std::vector<GlobalInfo> globals;
    std::uint64_t hash = 0;
    bool uses_reserved_shared = false;  // some function reads %reserved_smem_offset_*
};

// The buffers of the module's variables, made and filled when they are not there yet.
const std::vector<Buffer*>& module_variables(const Module& module, Memory::Impl& memory, bool reset);

}  // namespace emulator
