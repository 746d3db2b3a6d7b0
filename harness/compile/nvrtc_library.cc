#include "harness/compile/nvrtc_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "harness/core/files.h"
#include "harness/core/process.h"
#include "harness/core/text.h"

namespace kernelwright {
namespace {

namespace fs = std::filesystem;

constexpr const char* how_to_get =
    "install a CUDA toolkit (https://developer.nvidia.com/cuda-downloads, no GPU or driver is needed), or "
    "`pip install "
    "nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-crt`, or set KERNELWRIGHT_NVRTC to "
    "libnvrtc.so "
    "or its folder";

bool is_folder(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

bool is_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

std::vector<fs::path> entries(const fs::path& folder) {
    std::vector<fs::path> out;
    std::error_code failed;
    for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
        out.push_back(it->path());
    }
    std::sort(out.begin(), out.end());
    return out;
}

// Entries of `folder` whose names begin with `prefix`, the highest version first.
std::vector<fs::path> versions_of(const fs::path& folder, const std::string& prefix) {
    std::vector<std::pair<std::vector<int>, fs::path>> found;
    for (const fs::path& entry : entries(folder)) {
        const std::string name = entry.filename().string();
        if (name.rfind(prefix, 0) != 0) continue;
        std::vector<int> numbers;
        for (const std::string& part : split(std::string_view(name).substr(prefix.size()), '.')) {
            numbers.push_back(std::atoi(part.c_str()));
        }
        found.emplace_back(std::move(numbers), entry);
    }
    std::sort(found.rbegin(), found.rend());
    std::vector<fs::path> out;
    for (auto& [numbers, path] : found) out.push_back(std::move(path));
    return out;
}

// The numbers of "PREFIX13.0.88"; nullopt when the name is not the prefix and numbers.
std::optional<std::vector<int>> numbers_after(std::string_view name, std::string_view prefix) {
    if (name.substr(0, prefix.size()) != prefix) return std::nullopt;
    std::vector<int> out;
    if (name.size() == prefix.size()) return out;
    for (const std::string& part : split(name.substr(prefix.size()), '.')) {
        const bool number =
            !part.empty() && part.size() < 6 &&
            std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (!number) return std::nullopt;
        out.push_back(std::atoi(part.c_str()));
    }
    return out;
}

// libnvrtc.so.13 before libnvrtc.so.12 before libnvrtc.so.
std::optional<fs::path> library_in(const fs::path& folder) {
    for (const fs::path& entry : versions_of(folder, "libnvrtc.so")) {
        const std::string name = entry.filename().string();
        if ((name == "libnvrtc.so" || numbers_after(name, "libnvrtc.so.")) && is_file(entry)) return entry;
    }
    return std::nullopt;
}

// libnvrtc-builtins.so.13.0 beside it bears the release; the library's own name has the first number only.
NvrtcVersion version_beside(const fs::path& library) {
    std::error_code failed;
    const fs::path real = fs::canonical(library, failed);
    const auto own = numbers_after(real.filename().string(), "libnvrtc.so.");
    if (own && own->size() >= 2) return {(*own)[0], (*own)[1]};
    for (const fs::path& folder : {real.parent_path(), library.parent_path()}) {
        for (const fs::path& entry : versions_of(folder, "libnvrtc-builtins.so.")) {
            const auto numbers = numbers_after(entry.filename().string(), "libnvrtc-builtins.so.");
            if (numbers && numbers->size() >= 2) return {(*numbers)[0], (*numbers)[1]};
        }
    }
    return {};
}

NvrtcVersion version_by_asking(const fs::path& library) {
    void* handle = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) return {};
    NvrtcVersion version;
    using VersionFunction = int (*)(int*, int*);
    if (auto* ask = reinterpret_cast<VersionFunction>(::dlsym(handle, "nvrtcVersion"))) {
        ask(&version.major, &version.minor);
    }
    ::dlclose(handle);
    return version;
}

// The include folders that belong to a library: the toolkit's, or those of the sibling Python packages.
std::vector<fs::path> include_folders(const fs::path& library) {
    std::vector<fs::path> roots;
    std::error_code failed;
    for (const fs::path& file : {library, fs::canonical(library, failed)}) {
        fs::path folder = file.parent_path();
        for (int up = 0; up < 3 && folder.has_relative_path(); ++up) {
            folder = folder.parent_path();
            roots.push_back(folder / "include");
            if (folder.filename() == "cuda_nvrtc") {
                for (const char* sibling : {"cuda_runtime", "cuda_cccl", "cuda_crt"}) {
                    roots.push_back(folder.parent_path() / sibling / "include");
                }
            }
        }
    }
    std::vector<fs::path> out;
    const auto add = [&](const fs::path& folder) {
        std::error_code ignored;
        const fs::path real = fs::canonical(folder, ignored);
        if (!ignored && is_folder(real) && std::find(out.begin(), out.end(), real) == out.end())
            out.push_back(real);
    };
    const bool packages = std::any_of(roots.begin(), roots.end(), [](const fs::path& root) {
        return root.parent_path().filename() == "cuda_runtime" && is_folder(root);
    });
    for (const fs::path& root : roots) {
        // /usr/include counts where a distribution puts the toolkit's headers there.
        if (!is_file(root / "cuda_fp16.h") && !(packages && is_folder(root))) continue;
        add(root);
        add(root / "cccl");
    }
    return out;
}

void add_python(const EnvironmentReader& environment, std::vector<NvrtcPlace>& out) {
    std::vector<fs::path> prefixes;
    for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
        if (const auto value = environment(name)) prefixes.emplace_back(*value);
    }
    if (const auto home = environment("HOME")) prefixes.push_back(fs::path(*home) / ".local");
    const std::string python = find_program("python3", environment("PATH").value_or(""));
    if (!python.empty()) {
        std::error_code failed;
        prefixes.push_back(fs::path(python).parent_path().parent_path());
        prefixes.push_back(fs::canonical(python, failed).parent_path().parent_path());
    }
    prefixes.emplace_back("/usr/local");
    prefixes.emplace_back("/usr");
    for (const fs::path& prefix : prefixes) {
        if (prefix.empty()) continue;
        std::vector<fs::path> pythons = versions_of(prefix / "lib", "python3.");
        pythons.push_back(prefix / "lib" / "python3");
        for (const fs::path& version : pythons) {
            for (const char* packages : {"site-packages", "dist-packages"}) {
                for (const char* package : {"cu13", "cuda_nvrtc", "cu12"}) {
                    const fs::path folder = version / packages / "nvidia" / package / "lib";
                    if (is_folder(folder)) out.push_back({folder, "Python's nvidia packages"});
                }
            }
        }
    }
}

void add_loader_path(const EnvironmentReader& environment, std::vector<NvrtcPlace>& out) {
    for (const std::string& folder : split(environment("LD_LIBRARY_PATH").value_or(""), ':')) {
        if (!folder.empty()) out.push_back({folder, "LD_LIBRARY_PATH"});
    }
    for (const fs::path& file : entries("/etc/ld.so.conf.d")) {
        const auto text = read_file(file, 1 << 20);
        if (!text) continue;
        for (const std::string& line : split(*text, '\n')) {
            const std::string folder(trim(line));
            if (!folder.empty() && folder[0] == '/') out.push_back({folder, "the loader's path"});
        }
    }
    for (const char* folder :
         {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"}) {
        out.push_back({folder, "the loader's path"});
    }
}

}  // namespace

std::string NvrtcVersion::str() const { return fmt::format("{}.{}", major, minor); }

fs::path NvrtcLocation::builtins() const {
    std::error_code failed;
    for (const fs::path& folder : {fs::canonical(library, failed).parent_path(), library.parent_path()}) {
        const std::string name = "libnvrtc-builtins.so." + version.str();
        if (is_file(folder / name)) return folder / name;
        for (const fs::path& path : versions_of(folder, name + ".")) {
            if (is_file(path)) return path;
        }
    }
    return {};
}

std::vector<fs::path> NvrtcLocation::companions() const {
    std::vector<fs::path> out;
    std::error_code failed;
    const std::set<fs::path> folders{library.parent_path(), fs::canonical(library, failed).parent_path()};
    for (const fs::path& folder : folders) {
        for (const fs::path& entry : entries(folder)) {
            const std::string name = entry.filename().string();
            if (name.rfind("libnvrtc", 0) == 0 || name.rfind("libnvJitLink", 0) == 0) out.push_back(entry);
        }
    }
    return out;
}

std::string NvrtcLocation::fingerprint() const {
    struct stat info {};
    ::stat(library.c_str(), &info);
    std::string out =
        fmt::format("{} {} {} {}", library.string(), version.str(), info.st_size, info.st_mtim.tv_sec);
    for (const fs::path& folder : include_folders) out += " " + folder.string();
    return out;
}

std::vector<NvrtcPlace> nvrtc_places(const EnvironmentReader& environment) {
    if (const auto path = environment("KERNELWRIGHT_NVRTC")) return {{*path, "KERNELWRIGHT_NVRTC"}};
    std::vector<NvrtcPlace> out;
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const auto path = environment(name)) out.push_back({*path, name});
    }
    if (const std::string nvcc = find_program("nvcc", environment("PATH").value_or("")); !nvcc.empty()) {
        std::error_code failed;
        out.push_back({fs::absolute(nvcc).parent_path().parent_path(), "nvcc on PATH"});
        const fs::path real = fs::canonical(nvcc, failed);
        if (!failed) out.push_back({real.parent_path().parent_path(), "nvcc on PATH"});
    }
    out.push_back({"/usr/local/cuda", "a usual toolkit folder"});
    for (const char* folder : {"/usr/local", "/opt", "/opt/nvidia"}) {
        for (const fs::path& toolkit : versions_of(folder, "cuda-"))
            out.push_back({toolkit, "a usual toolkit folder"});
    }
    for (const char* folder : {"/opt/cuda", "/usr/lib/cuda", "/usr/lib/nvidia-cuda-toolkit"}) {
        out.push_back({folder, "a usual toolkit folder"});
    }
    add_loader_path(environment, out);
    add_python(environment, out);
    return out;
}

std::optional<NvrtcLocation> nvrtc_at(const NvrtcPlace& place, std::string* rejected) {
    std::optional<fs::path> library;
    if (is_file(place.path)) {
        library = fs::absolute(place.path);
    } else {
        for (const char* folder : {"", "lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib",
                                   "lib/x86_64-linux-gnu"}) {
            library = library_in(place.path / folder);
            if (library) break;
        }
    }
    if (!library) return std::nullopt;
    NvrtcLocation location;
    location.library = fs::absolute(*library).lexically_normal();
    location.version = version_beside(location.library);
    if (location.version == NvrtcVersion{}) location.version = version_by_asking(location.library);
    location.found_by = place.found_by;
    if (location.version < oldest_nvrtc) {
        if (rejected != nullptr) {
            *rejected = location.version == NvrtcVersion{}
                            ? fmt::format("{} does not load as NVRTC", location.library.string())
                            : fmt::format("{} is {}, older than {}", location.library.string(),
                                          location.version.str(), oldest_nvrtc.str());
        }
        return std::nullopt;
    }
    location.include_folders = include_folders(location.library);
    location.has_headers =
        std::any_of(location.include_folders.begin(), location.include_folders.end(),
                    [](const fs::path& folder) { return is_file(folder / "cuda_fp16.h"); });
    return location;
}

Result<NvrtcLocation> find_nvrtc(const EnvironmentReader& environment) {
    const std::vector<NvrtcPlace> places = nvrtc_places(environment);
    std::string rejected, first_rejected;
    std::optional<NvrtcLocation> without_headers;
    for (const NvrtcPlace& place : places) {
        auto location = nvrtc_at(place, &rejected);
        if (first_rejected.empty()) first_rejected = rejected;
        if (!location) continue;
        if (location->has_headers) return std::move(*location);
        if (!without_headers) without_headers = std::move(location);
    }
    if (without_headers) return std::move(*without_headers);
    std::string what = "NVRTC, the CUDA compiler library, was not found";
    if (environment("KERNELWRIGHT_NVRTC")) {
        what += fmt::format(" at KERNELWRIGHT_NVRTC={}", places.front().path.string());
    } else {
        what += " (12.4 or newer is needed)";
    }
    if (!first_rejected.empty()) what += "; " + first_rejected;
    return Error{what, "", 0, 0, how_to_get};
}

}  // namespace kernelwright
