// CUDA C++ to PTX and machine code with NVRTC, in a worker process of its own.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/diagnostic.h"
#include "harness/core/json.h"
#include "harness/core/result.h"

namespace kernelwright {

struct CompileRequest {
    std::string source;
    std::string file;                  // the name that diagnostics carry
    std::string target = "sm_80";      // always a real architecture: machine code is made too
    std::vector<std::string> options;  // --use_fast_math, --maxrregcount=N, --fmad=false
    std::map<std::string, std::string> defines;
    std::vector<std::string> name_expressions;  // C++ names to instantiate and look up
    std::chrono::milliseconds time_limit{30'000};
    std::size_t memory_limit = std::size_t{2} << 30;  // bytes, of the worker
};

// ptxas facts of one kernel.
struct KernelResources {
    int registers = 0;
    std::uint32_t static_shared = 0;  // bytes
    std::uint32_t spill_store_bytes = 0, spill_load_bytes = 0;
    std::uint32_t stack_bytes = 0;  // per thread
    std::uint32_t constant_bytes = 0;
    int barriers = 0;
    std::uint32_t code_bytes = 0;  // size of the machine code
    bool operator==(const KernelResources&) const = default;
};

struct Build {
    std::string target;
    std::string ptx;
    std::vector<std::byte> cubin;
    std::map<std::string, KernelResources> kernels;    // by PTX symbol
    std::map<std::string, std::string> lowered_names;  // name expression -> PTX symbol
    std::vector<Diagnostic> warnings;
    std::string log;
    std::string nvrtc_version;  // "13.0"
    bool cached = false;
    std::chrono::milliseconds time{0};
};

struct CompileOutcome {
    std::optional<Build> build;           // present when it compiled
    std::vector<Diagnostic> diagnostics;  // errors (stage compile or limits) when it did not
    std::optional<Error> environment;     // something needed is missing (no NVRTC): exit code 3
};

class Compiler {
  public:
    virtual ~Compiler() = default;
    virtual CompileOutcome compile(const CompileRequest& request) = 0;
};

}  // namespace kernelwright
