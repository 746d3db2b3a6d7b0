// Where NVRTC is on this machine. Nothing of it is linked or needed at build time; any release from 12.4 on
// does.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/environment.h"
#include "harness/core/result.h"

namespace kernelwright {

struct NvrtcVersion {
    int major = 0, minor = 0;
    auto operator<=>(const NvrtcVersion&) const = default;
    std::string str() const;
};

struct NvrtcLocation {
    std::filesystem::path library;                       // libnvrtc.so.N
    NvrtcVersion version;                                // 0.0: only the library itself can say
    std::vector<std::filesystem::path> include_folders;  // in the order of the search; may be empty
    std::string found_by;                                // "CUDA_HOME", "nvcc on PATH", ...
    // The toolkit's own headers are there (cuda_fp16.h); without them only plain kernels compile.
    bool has_headers = false;
    // libnvrtc-builtins.so.N.M, which NVRTC looks for on the loader's path only; empty: not beside it.
    std::filesystem::path builtins() const;
    // The files beside the library that it opens when it compiles.
    std::vector<std::filesystem::path> companions() const;
    // Changes when the library does: its path, version, size and time of change.
    std::string fingerprint() const;
};

// A folder that may hold NVRTC, or a toolkit's root.
struct NvrtcPlace {
    std::filesystem::path path;
    std::string found_by;
};
// All places that are searched, in order.
std::vector<NvrtcPlace> nvrtc_places(const EnvironmentReader& environment);

// The first usable NVRTC: KERNELWRIGHT_NVRTC (a file or folder, and then nothing else), CUDA_HOME and
// CUDA_PATH, beside nvcc on PATH, the usual toolkit folders, the loader's path, Python's nvidia packages. An
// Error says in one line what is missing, its hint how to get it.
Result<NvrtcLocation> find_nvrtc(const EnvironmentReader& environment = read_environment);
// The same for one file or folder.
std::optional<NvrtcLocation> nvrtc_at(const NvrtcPlace& place, std::string* rejected = nullptr);

inline constexpr NvrtcVersion oldest_nvrtc{12, 4};

}  // namespace kernelwright
