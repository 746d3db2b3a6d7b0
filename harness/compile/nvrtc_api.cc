#include "harness/compile/nvrtc_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace kernelwright {
namespace {

template <class Function>
bool bind(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    return function != nullptr;
}

}  // namespace

Result<NvrtcApi> NvrtcApi::load(const std::string& library, const std::string& builtins) {
    if (!builtins.empty() && ::dlopen(builtins.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
        return Error{fmt::format("cannot load {}: {}", builtins, ::dlerror())};
    }
    // Never closed: NVRTC keeps threads and thread-local state that do not bear it.
    void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return Error{fmt::format("cannot load {}: {}", library, ::dlerror())};
    NvrtcApi api;
    const bool bound =
        bind(handle, "nvrtcGetErrorString", api.error_string) && bind(handle, "nvrtcVersion", api.version) &&
        bind(handle, "nvrtcGetNumSupportedArchs", api.architecture_count) &&
        bind(handle, "nvrtcGetSupportedArchs", api.architectures) &&
        bind(handle, "nvrtcCreateProgram", api.create_program) &&
        bind(handle, "nvrtcDestroyProgram", api.destroy_program) &&
        bind(handle, "nvrtcCompileProgram", api.compile_program) &&
        bind(handle, "nvrtcGetPTXSize", api.ptx_size) && bind(handle, "nvrtcGetPTX", api.ptx) &&
        bind(handle, "nvrtcGetCUBINSize", api.cubin_size) && bind(handle, "nvrtcGetCUBIN", api.cubin) &&
        bind(handle, "nvrtcGetProgramLogSize", api.log_size) && bind(handle, "nvrtcGetProgramLog", api.log) &&
        bind(handle, "nvrtcAddNameExpression", api.add_name_expression) &&
        bind(handle, "nvrtcGetLoweredName", api.lowered_name);
    if (!bound) return Error{fmt::format("{} lacks a function of NVRTC: {}", library, ::dlerror())};
    return api;
}

}  // namespace kernelwright
