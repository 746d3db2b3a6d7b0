// Outside programs (a task's own reference) in the sandbox: they see the system's programs and libraries and
// their working directory, and nothing else.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/process.h"
#include "harness/sandbox/policy.h"

namespace kernelwright {

struct SandboxedCommand {
    // Either a program with its arguments, or one line for /bin/sh (`shell`).
    std::vector<std::string> arguments;
    std::string shell;
    std::filesystem::path working_directory;  // readable and writable; also HOME and TMPDIR
    std::string input;
    std::vector<std::filesystem::path> read_only;  // more than the system's own folders
    SandboxMode mode = SandboxMode::best_effort;
    std::chrono::milliseconds wall_limit{20'000};
    std::uint64_t memory_limit = std::uint64_t{4} << 30;  // resident bytes, of all its processes together
    std::uint64_t file_size = std::uint64_t{1} << 30;     // bytes of any file it writes
    std::size_t output_limit = 1 << 20;                   // bytes of each stream that are kept
    std::string launcher = "/proc/self/exe";              // a program that calls run_worker_if_asked
};

struct CommandOutcome {
    ProcessResult process;
    SandboxReport layers;
};

// An Error means that the command did not start: not found, no working directory, a required layer missing.
Result<CommandOutcome> run_command(const SandboxedCommand& command, ProcessRunner& runner);
Result<CommandOutcome> run_command(const SandboxedCommand& command);

// What `run_command` lets a program read: the system's folders, the program's own installation (a virtual
// environment, a Python in a home folder), and the folders of KERNELWRIGHT_SANDBOX_READ (PATH's form).
std::vector<std::filesystem::path> command_read_only(const std::string& program);

// A command's PATH: `path` without the shims of version managers (pyenv, asdf, mise), which are scripts that
// need the user's home folder, and with the system's folders at its end, where the same program may be.
std::string command_search_path(const std::string& path);

}  // namespace kernelwright
