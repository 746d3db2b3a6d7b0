// Compiled candidates on disk, addressed by the content of everything that went into them.
//
// One file per entry, written beside its place and renamed; it begins with a checksum of the rest, and an
// entry that does not match (torn by a crash, an older form, somebody's edit) is a miss, never an error. When
// the folder outgrows its cap the entries that were not used for longest go.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "harness/compile/compiler.h"

namespace kernelwright {

class BuildCache {
  public:
    explicit BuildCache(std::filesystem::path folder, std::uint64_t size_limit = std::uint64_t{512} << 20);

    std::optional<Build> find(const std::string& key) const;
    // Best effort: a full or read-only disk only means that nothing is remembered.
    void store(const std::string& key, const Build& build) const;
    void evict() const;
    const std::filesystem::path& folder() const { return folder_; }
    std::filesystem::path path_of(const std::string& key) const;

  private:
    std::filesystem::path folder_;
    std::uint64_t size_limit_;
};

// KERNELWRIGHT_CACHE, else $XDG_CACHE_HOME/kernelwright, else ~/.cache/kernelwright; "" when there is no
// home.
std::filesystem::path default_cache_folder();

std::string encode_build(const Build& build);
std::optional<Build> decode_build(const std::string& bytes);

}  // namespace kernelwright
