// The file operations that the harness needs, each of which either happens whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "harness/core/result.h"

namespace kernelwright {

// Reads a regular file of at most `limit` bytes.
Result<std::string> read_file(const std::filesystem::path& path, std::uintmax_t limit = 64U << 20);
// Writes beside the target, syncs, then renames: a reader sees the old content or the new, never a part.
Status write_file_atomic(const std::filesystem::path& path, std::string_view content);
// All of it, in as many writes as that takes; false, and errno: not possible.
bool write_all(int fd, std::string_view content);
// Appends one line (a newline is added) in a single write and syncs it to disk.
Status append_line(const std::filesystem::path& path, std::string_view line);

}  // namespace kernelwright
