// The Compiler that uses NVRTC in sandboxed workers, with a cache of builds on disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "harness/compile/build_cache.h"
#include "harness/compile/compile_worker.h"
#include "harness/compile/compiler.h"
#include "harness/compile/nvrtc_library.h"
#include "harness/sandbox/policy.h"

namespace kernelwright {

struct CompilerConfig {
    std::optional<NvrtcLocation> nvrtc;  // nullopt: find_nvrtc() at the first compilation
    // nullopt: `compile` in default_cache_folder(); empty: no cache.
    std::optional<std::filesystem::path> cache_folder;
    std::uint64_t cache_limit = std::uint64_t{512} << 20;  // bytes
    SandboxMode sandbox = SandboxMode::best_effort;
    // A program whose main() calls run_worker_if_asked with a table that holds add_compile_worker's entry.
    std::string worker_program = "/proc/self/exe";
    std::size_t idle_workers = 2;  // warm ones that are kept; each holds about 100 MiB
};

// Safe to use from several threads at once; each compilation has a worker of its own.
std::unique_ptr<Compiler> make_compiler(CompilerConfig config = {});

// A kernel of the build by the plan's name: its PTX symbol, or a diagnostic that says what there is instead
// (the mangled name, when extern "C" was forgotten).
Result<std::string, Diagnostic> kernel_symbol(const Build& build, const std::string& name,
                                              const std::string& file);

// The policy under which a compile worker runs.
SandboxPolicy compile_policy(const NvrtcLocation& nvrtc, std::uint64_t memory_limit, SandboxMode mode);

}  // namespace kernelwright
