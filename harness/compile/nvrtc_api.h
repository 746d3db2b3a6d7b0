// The part of NVRTC's C interface that is used, declared here and bound with dlopen, so that neither the
// build nor a machine without a toolkit needs its header.
#pragma once

#include <cstddef>
#include <string>

#include "harness/core/result.h"

namespace kernelwright {

struct NvrtcProgram;  // NVRTC's own, opaque

struct NvrtcApi {
    // nvrtcResult values.
    static constexpr int success = 0, out_of_memory = 1, invalid_option = 5, compilation = 6;

    const char* (*error_string)(int) = nullptr;
    int (*version)(int*, int*) = nullptr;
    int (*architecture_count)(int*) = nullptr;
    int (*architectures)(int*) = nullptr;
    int (*create_program)(NvrtcProgram**, const char* source, const char* name, int headers,
                          const char* const* texts, const char* const* names) = nullptr;
    int (*destroy_program)(NvrtcProgram**) = nullptr;
    int (*compile_program)(NvrtcProgram*, int options, const char* const* values) = nullptr;
    int (*ptx_size)(NvrtcProgram*, std::size_t*) = nullptr;
    int (*ptx)(NvrtcProgram*, char*) = nullptr;
    int (*cubin_size)(NvrtcProgram*, std::size_t*) = nullptr;
    int (*cubin)(NvrtcProgram*, char*) = nullptr;
    int (*log_size)(NvrtcProgram*, std::size_t*) = nullptr;
    int (*log)(NvrtcProgram*, char*) = nullptr;
    int (*add_name_expression)(NvrtcProgram*, const char*) = nullptr;
    int (*lowered_name)(NvrtcProgram*, const char*, const char**) = nullptr;

    // `builtins`: the companion that NVRTC opens by its bare name when it compiles; loaded first, it is found
    // wherever it lies. "" leaves that to the loader.
    static Result<NvrtcApi> load(const std::string& library, const std::string& builtins);
};

}  // namespace kernelwright
