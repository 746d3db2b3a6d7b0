#include "harness/compile/build_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <span>
#include <vector>

#include "harness/compile/nvrtc_library.h"
#include "harness/core/files.h"
#include "harness/core/hash.h"
#include "harness/sandbox/message.h"

namespace kernelwright {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t hash_length = 64;

Json to_json(const KernelResources& r) {
    return Json{{"registers", r.registers},
                {"static_shared", r.static_shared},
                {"spill_store_bytes", r.spill_store_bytes},
                {"spill_load_bytes", r.spill_load_bytes},
                {"stack_bytes", r.stack_bytes},
                {"constant_bytes", r.constant_bytes},
                {"barriers", r.barriers},
                {"code_bytes", r.code_bytes}};
}

KernelResources resources_from(const Json& json) {
    KernelResources r;
    r.registers = json.at("registers").get<int>();
    r.static_shared = json.at("static_shared").get<std::uint32_t>();
    r.spill_store_bytes = json.at("spill_store_bytes").get<std::uint32_t>();
    r.spill_load_bytes = json.at("spill_load_bytes").get<std::uint32_t>();
    r.stack_bytes = json.at("stack_bytes").get<std::uint32_t>();
    r.constant_bytes = json.at("constant_bytes").get<std::uint32_t>();
    r.barriers = json.at("barriers").get<int>();
    r.code_bytes = json.at("code_bytes").get<std::uint32_t>();
    return r;
}

}  // namespace

std::string encode_build(const Build& build) {
    Json kernels = Json::object(), lowered = Json::object(), warnings = Json::array();
    for (const auto& [name, resources] : build.kernels) kernels[name] = to_json(resources);
    for (const auto& [name, symbol] : build.lowered_names) lowered[name] = symbol;
    for (const Diagnostic& warning : build.warnings) warnings.push_back(to_json(warning));
    const Json header{{"form", 1},
                      {"target", build.target},
                      {"kernels", std::move(kernels)},
                      {"lowered_names", std::move(lowered)},
                      {"warnings", std::move(warnings)},
                      {"nvrtc_version", build.nvrtc_version},
                      {"time_ms", build.time.count()}};
    const std::string body = encode(Message{
        header,
        {build.ptx, std::string(reinterpret_cast<const char*>(build.cubin.data()), build.cubin.size()),
         build.log}});
    return sha256_hex(body) + body;
}

std::optional<Build> decode_build(const std::string& bytes) {
    if (bytes.size() < hash_length) return std::nullopt;
    const std::string body = bytes.substr(hash_length);
    if (bytes.compare(0, hash_length, sha256_hex(body)) != 0) return std::nullopt;
    MessageDecoder decoder;
    decoder.feed(body.data(), body.size());
    auto message = decoder.next();
    if (!message || !*message || (*message)->blobs.size() != 3) return std::nullopt;
    try {
        const Json& header = (*message)->header;
        if (header.at("form").get<int>() != 1) return std::nullopt;
        Build build;
        build.target = header.at("target").get<std::string>();
        for (const auto& [name, resources] : header.at("kernels").items()) {
            build.kernels[name] = resources_from(resources);
        }
        for (const auto& [name, symbol] : header.at("lowered_names").items()) {
            build.lowered_names[name] = symbol.get<std::string>();
        }
        for (const Json& warning : header.at("warnings")) {
            auto diagnostic = diagnostic_from_json(warning);
            if (!diagnostic) return std::nullopt;
            build.warnings.push_back(std::move(*diagnostic));
        }
        build.nvrtc_version = header.at("nvrtc_version").get<std::string>();
        build.time = std::chrono::milliseconds(header.at("time_ms").get<std::int64_t>());
        auto& blobs = (*message)->blobs;
        build.ptx = std::move(blobs[0]);
        const auto bytes = std::as_bytes(std::span(blobs[1]));
        build.cubin.assign(bytes.begin(), bytes.end());
        build.log = std::move(blobs[2]);
        return build;
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

BuildCache::BuildCache(fs::path folder, std::uint64_t size_limit)
    : folder_(std::move(folder)), size_limit_(size_limit) {}

fs::path BuildCache::path_of(const std::string& key) const {
    return folder_ / key.substr(0, 2) / (key + ".build");
}

std::optional<Build> BuildCache::find(const std::string& key) const {
    const fs::path path = path_of(key);
    const auto bytes = read_file(path, std::uintmax_t{256} << 20);
    if (!bytes) return std::nullopt;
    auto build = decode_build(*bytes);
    if (!build) {
        std::error_code ignored;
        fs::remove(path, ignored);
        return std::nullopt;
    }
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // eviction goes by last use
    build->cached = true;
    return build;
}

void BuildCache::store(const std::string& key, const Build& build) const {
    // A name that no other thread or process writes to, so that two that finish together do not tear each
    // other.
    static std::atomic<unsigned> counter{0};
    const fs::path path = path_of(key);
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    if (failed) return;
    const fs::path temporary =
        path.parent_path() / fmt::format("{}.{}.{}.new", key, ::getpid(), counter.fetch_add(1));
    if (!write_file_atomic(temporary, encode_build(build))) return;
    fs::rename(temporary, path, failed);
    if (failed) fs::remove(temporary, failed);
    if (counter % 32 == 1) evict();
}

void BuildCache::evict() const {
    struct Entry {
        fs::file_time_type used;
        std::uint64_t size;
        fs::path path;
    };
    std::vector<Entry> all;
    std::uint64_t total = 0;
    std::error_code failed;
    for (fs::recursive_directory_iterator it(folder_, failed), end; !failed && it != end;
         it.increment(failed)) {
        std::error_code gone;
        if (!it->is_regular_file(gone) || gone) continue;
        if (it->path().extension() != ".build" && it->path().extension() != ".new") continue;
        const Entry entry{it->last_write_time(gone), it->file_size(gone), it->path()};
        if (gone) continue;
        total += entry.size;
        all.push_back(entry);
    }
    if (total <= size_limit_) return;
    std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
    for (const Entry& entry : all) {
        if (total <= size_limit_ / 5 * 4) break;
        std::error_code gone;
        if (fs::remove(entry.path, gone)) total -= std::min(total, entry.size);
    }
}

fs::path default_cache_folder() {
    if (const auto folder = read_environment("KERNELWRIGHT_CACHE")) return *folder;
    if (const auto folder = read_environment("XDG_CACHE_HOME")) return fs::path(*folder) / "kernelwright";
    if (const auto home = read_environment("HOME")) return fs::path(*home) / ".cache" / "kernelwright";
    return {};
}

}  // namespace kernelwright
