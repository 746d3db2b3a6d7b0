// What a sandboxed process may do, and which layers really hold.
//
// The layers, in the order in which a process puts them on itself after exec and before it sees anything that
// a model wrote: its own session and a clean environment (by whoever spawned it), resource limits, name
// spaces (network, IPC, host name), no new privileges and no capabilities, Landlock (files), seccomp (system
// calls). See docs/sandbox.md. Each layer is best effort by itself; `require` demands Landlock and seccomp.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/json.h"
#include "harness/core/result.h"

namespace kernelwright {

enum class SandboxMode {
    off,          // limits only
    best_effort,  // every layer that this machine has
    require       // refuse to run without Landlock and seccomp
};
const char* to_string(SandboxMode mode);
std::optional<SandboxMode> parse_sandbox_mode(const std::string& name);

struct SandboxPolicy {
    SandboxMode mode = SandboxMode::best_effort;
    std::vector<std::filesystem::path> read_only;   // files or folders; missing ones are skipped
    std::vector<std::filesystem::path> read_write;  // folders, or files and devices
    bool allow_exec = false;                        // start programs (those under read_only, and only those)
    // Bytes of address space (RLIMIT_AS); 0: none. Not for a process that opens a GPU, which reserves far
    // more.
    std::uint64_t address_space = 0;
    // Resident bytes, watched by the parent; 0: none.
    std::uint64_t memory = 0;
    std::chrono::seconds cpu{0};                        // processor time over the whole life; 0: none
    std::uint64_t file_size = std::uint64_t{64} << 20;  // bytes of any file it writes
    std::uint32_t open_files = 256;
    // Processes and threads at once, inside its own user name space (root is exempt, says the kernel).
    std::uint32_t processes = 128;
};

struct SandboxLayer {
    std::string name;  // "landlock", "seccomp", "network", ...
    bool active = false;
    std::string detail;  // "ABI 7", or why it is not active
};
using SandboxReport = std::vector<SandboxLayer>;

const SandboxLayer* find_layer(const SandboxReport& report, const std::string& name);

Json to_json(const SandboxPolicy& policy);
Result<SandboxPolicy> sandbox_policy_from_json(const Json& json);
Json to_json(const SandboxReport& report);
Result<SandboxReport> sandbox_report_from_json(const Json& json);

// Puts the layers on the calling process, for good. The process must have one thread. An Error means that the
// policy requires a layer that could not be put on.
Result<SandboxReport> apply_sandbox(const SandboxPolicy& policy);

}  // namespace kernelwright
