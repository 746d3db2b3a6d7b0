// CUDA C++ to PTX for tests, through libnvrtc opened at run time. Without a toolkit the tests that need it
// are skipped.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace emulator::test {

class Nvrtc {
  public:
    static const Nvrtc& get() {
        static const Nvrtc instance;
        return instance;
    }
    bool available() const { return create_ != nullptr; }

    // PTX, or nothing with the compiler's log.
    std::optional<std::string> compile(const std::string& source, const std::string& name, std::string* log,
                                       const std::vector<std::string>& extra = {}) const {
        void* program = nullptr;
        if (create_(&program, source.c_str(), name.c_str(), 0, nullptr, nullptr) != 0) return std::nullopt;
        std::vector<std::string> options = {"--gpu-architecture=compute_80", "--std=c++17", "-lineinfo",
                                            "-default-device"};
        for (const std::string& option : extra) {
            if (option.rfind("--gpu-architecture=", 0) == 0)
                options[0] = option;
            else
                options.push_back(option);
        }
        for (const std::string& include : includes_) options.push_back("-I" + include);
        std::vector<const char*> pointers;
        for (const std::string& option : options) pointers.push_back(option.c_str());
        const int rc = compile_(program, static_cast<int>(pointers.size()), pointers.data());
        std::size_t size = 0;
        if (log) {
            log_size_(program, &size);
            log->resize(size);
            log_(program, log->data());
        }
        std::optional<std::string> ptx;
        if (rc == 0) {
            ptx_size_(program, &size);
            ptx.emplace(size, '\0');
            ptx_(program, ptx->data());
            while (!ptx->empty() && ptx->back() == '\0') ptx->pop_back();
        }
        destroy_(&program);
        return ptx;
    }

  private:
    int (*create_)(void**, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
    int (*compile_)(void*, int, const char* const*) = nullptr;
    int (*ptx_size_)(void*, std::size_t*) = nullptr;
    int (*ptx_)(void*, char*) = nullptr;
    int (*log_size_)(void*, std::size_t*) = nullptr;
    int (*log_)(void*, char*) = nullptr;
    int (*destroy_)(void**) = nullptr;
    std::vector<std::string> includes_;

    Nvrtc() {
        std::vector<std::string> roots;
        if (const char* home = std::getenv("CUDA_HOME")) roots.push_back(home);
        if (const char* home = std::getenv("CUDA_PATH")) roots.push_back(home);
        roots.push_back("/usr/local/cuda");
        void* library = nullptr;
        std::string root;
        for (const std::string& candidate : roots)
            for (const char* file : {"/lib64/libnvrtc.so", "/lib64/libnvrtc.so.13", "/lib64/libnvrtc.so.12"})
                if (!library && (library = dlopen((candidate + file).c_str(), RTLD_NOW)) != nullptr)
                    root = candidate;
        for (const char* file : {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"})
            if (!library) library = dlopen(file, RTLD_NOW);
        if (!library) return;
        const auto find = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
        };
        find(compile_, "nvrtcCompileProgram");
        find(ptx_size_, "nvrtcGetPTXSize");
        find(ptx_, "nvrtcGetPTX");
        find(log_size_, "nvrtcGetProgramLogSize");
        find(log_, "nvrtcGetProgramLog");
        find(destroy_, "nvrtcDestroyProgram");
        find(create_, "nvrtcCreateProgram");
        if (!root.empty()) includes_ = {root + "/include", root + "/include/cccl"};
    }
};

}  // namespace emulator::test
