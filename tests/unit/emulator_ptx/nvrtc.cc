#include "tests/unit/emulator_ptx/nvrtc.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

namespace emulator::test {

namespace {

struct Library {
    int (*create)(void**, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
    int (*destroy)(void**) = nullptr;
    int (*compile)(void*, int, const char* const*) = nullptr;
    int (*log_size)(void*, std::size_t*) = nullptr;
    int (*log)(void*, char*) = nullptr;
    int (*ptx_size)(void*, std::size_t*) = nullptr;
    int (*ptx)(void*, char*) = nullptr;
    std::string root;
    bool loaded = false;
};

Library open_library() {
    Library library;
    std::vector<std::string> roots;
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const char* value = std::getenv(name)) roots.emplace_back(value);
    }
    roots.emplace_back("/usr/local/cuda");
    void* handle = nullptr;
    for (const std::string& root : roots) {
        for (const char* file : {"/lib64/libnvrtc.so", "/lib64/libnvrtc.so.13", "/lib64/libnvrtc.so.12"}) {
            if (handle == nullptr) {
                handle = dlopen((root + file).c_str(), RTLD_NOW | RTLD_LOCAL);
                library.root = root;
            }
        }
    }
    if (handle == nullptr) return library;
    const auto bind = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
        return function != nullptr;
    };
    library.loaded =
        bind(library.create, "nvrtcCreateProgram") && bind(library.destroy, "nvrtcDestroyProgram") &&
        bind(library.compile, "nvrtcCompileProgram") && bind(library.log_size, "nvrtcGetProgramLogSize") &&
        bind(library.log, "nvrtcGetProgramLog") && bind(library.ptx_size, "nvrtcGetPTXSize") &&
        bind(library.ptx, "nvrtcGetPTX");
    return library;
}

}  // namespace

Compiled compile_cuda(const std::string& source, const std::string& target) {
    static const Library library = open_library();
    Compiled result;
    result.available = library.loaded;
    if (!library.loaded) return result;
    void* program = nullptr;
    if (library.create(&program, source.c_str(), "test.cu", 0, nullptr, nullptr) != 0) return result;
    const std::string architecture = "-arch=compute_" + target;
    const std::string include = "-I" + library.root + "/include";
    const std::string cccl = "-I" + library.root + "/include/cccl";
    const char* options[] = {architecture.c_str(), "-std=c++17",    "-lineinfo",
                             "-default-device",    include.c_str(), cccl.c_str()};
    const int code = library.compile(program, static_cast<int>(std::size(options)), options);
    std::size_t size = 0;
    if (library.log_size(program, &size) == 0 && size > 1) {
        result.log.resize(size);
        library.log(program, result.log.data());
    }
    if (code == 0 && library.ptx_size(program, &size) == 0 && size > 1) {
        result.ptx.resize(size);
        library.ptx(program, result.ptx.data());
        result.ptx.resize(size - 1);
    }
    library.destroy(&program);
    return result;
}

}  // namespace emulator::test
