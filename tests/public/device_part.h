// The device part of a CUDA source: host functions, host variables and host includes are blanked out, lines
// stay where they were, so that faults name the lines of the published file.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kernelwright::public_sources {

struct DevicePartOptions {
    // The text of a file of the repository by its path; nullopt: there is none.
    std::function<std::optional<std::string>(const std::string& path)> read;
    std::vector<std::string> include_folders;  // of the repository, beside the including file's own
    // Items (functions, classes, variables) whose text contains one of these are dropped too: host classes.
    std::vector<std::string> drop;
};

// Throws std::runtime_error when `path` cannot be read.
std::string device_part(const std::string& path, const DevicePartOptions& options);

}  // namespace kernelwright::public_sources
