#include "harness/sandbox/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "harness/core/text.h"
#include "harness/sandbox/message.h"
#include "harness/sandbox/worker.h"
#include "harness/sandbox/worker_protocol.h"

namespace kernelwright {
namespace {

namespace fs = std::filesystem;

constexpr const char* default_search_path = "/usr/local/bin:/usr/bin:/bin";

std::string environment_or(const char* name, const char* otherwise) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : otherwise;
}

// The folder that holds the bin/ of a program, unless that is a home folder or the root itself.
void add_installation(const fs::path& program, std::vector<fs::path>& out) {
    const fs::path folder = program.parent_path();
    const fs::path above = folder.parent_path();
    const fs::path home = environment_or("HOME", "/root");
    const bool too_wide =
        above.empty() || above == above.root_path() || above == home || above == home.parent_path();
    out.push_back(too_wide ? folder : above);
}

}  // namespace

std::vector<fs::path> command_read_only(const std::string& program) {
    std::vector<fs::path> out;
    for (const char* path : {"/usr",
                             "/lib",
                             "/lib64",
                             "/lib32",
                             "/bin",
                             "/sbin",
                             "/etc/ld.so.cache",
                             "/etc/ld.so.conf",
                             "/etc/ld.so.conf.d",
                             "/etc/alternatives",
                             "/etc/localtime",
                             "/etc/python3",
                             "/etc/python3.11",
                             "/etc/mime.types",
                             "/dev/zero",
                             "/dev/urandom",
                             "/dev/random",
                             "/proc/self",
                             "/proc/cpuinfo",
                             "/proc/meminfo",
                             "/proc/stat",
                             "/sys/devices/system/cpu",
                             "/sys/devices/system/node"}) {
        out.emplace_back(path);
    }
    if (!program.empty()) {
        add_installation(fs::absolute(program), out);
        std::error_code failed;
        const fs::path real = fs::canonical(program, failed);
        if (!failed) add_installation(real, out);
    }
    for (const std::string& path : split(environment_or("KERNELWRIGHT_SANDBOX_READ", ""), ':')) {
        if (!path.empty()) out.emplace_back(path);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

std::string command_search_path(const std::string& path) {
    std::vector<std::string> folders;
    const auto add = [&](const std::string& folder) {
        const fs::path normal = fs::path(folder).lexically_normal();
        const fs::path last = normal.has_filename() ? normal.filename() : normal.parent_path().filename();
        if (!folder.empty() && last != "shims" &&
            std::find(folders.begin(), folders.end(), folder) == folders.end())
            folders.push_back(folder);
    };
    for (const std::string& folder : split(path, ':')) add(folder);
    for (const std::string& folder : split(default_search_path, ':')) add(folder);
    return fmt::format("{}", fmt::join(folders, ":"));
}

Result<CommandOutcome> run_command(const SandboxedCommand& command, ProcessRunner& runner) {
    std::error_code failed;
    const fs::path directory = fs::canonical(command.working_directory, failed);
    if (failed || !fs::is_directory(directory, failed)) {
        return Error{"the command's working directory does not exist", command.working_directory.string()};
    }
    std::vector<std::string> arguments = command.arguments;
    const std::string search_path = command_search_path(environment_or("PATH", ""));
    std::vector<fs::path> read_only = command.read_only;
    const auto add_program = [&](const std::string& program) {
        for (auto& path : command_read_only(program)) read_only.push_back(std::move(path));
    };
    if (!command.shell.empty()) {
        arguments = {"/bin/sh", "-c", command.shell};
        // The shell finds the program itself; its installation must be readable.
        const std::string_view line = trim(command.shell);
        add_program(find_program(std::string(line.substr(0, line.find_first_of(" \t;|&<>()"))), search_path));
    } else {
        if (arguments.empty()) return Error{"a command without a program"};
        const std::string program = find_program(arguments[0], search_path);
        if (program.empty()) {
            return Error{fmt::format("`{}` is not installed", arguments[0]), "", 0, 0,
                         "no program of that name is on PATH"};
        }
        arguments[0] = fs::absolute(program).string();
        add_program(program);
    }

    SandboxPolicy policy;
    policy.mode = command.mode;
    policy.read_only = std::move(read_only);
    policy.read_write = {directory, "/dev/null"};
    policy.allow_exec = true;
    policy.file_size = command.file_size;
    policy.cpu = std::chrono::ceil<std::chrono::seconds>(command.wall_limit) * 8;
    const std::vector<std::string> environment{"PATH=" + search_path,          "HOME=" + directory.string(),
                                               "TMPDIR=" + directory.string(), "LC_ALL=C.UTF-8",
                                               "PYTHONDONTWRITEBYTECODE=1",    "PYTHONNOUSERSITE=1"};
    const Json configuration{
        {"arguments", arguments}, {"environment", environment}, {"working_directory", directory.string()}};

    auto jobs = make_pipe(), answers = make_pipe(), lifeline = make_pipe();
    for (const auto* pipe : {&jobs, &answers, &lifeline}) {
        if (!*pipe) return pipe->error();
    }
    // The first message is far below a pipe's capacity, so it can be written before anybody reads.
    const Message hello{Json{{"policy", to_json(policy)}, {"configuration", configuration}}, {}};
    set_non_blocking(jobs->write.get());
    if (const Status sent = write_message(jobs->write.get(), hello); !sent) {
        return Error{"the command line is too long for the sandbox"};
    }
    jobs->write.reset();

    ProcessSpec spec;
    spec.spawn.program = command.launcher;
    spec.spawn.arguments = {"kernelwright", worker_argument, command_worker_kind};
    spec.spawn.environment = {fmt::format("{}=1", in_worker_variable), "LC_ALL=C"};
    spec.input = command.input;
    spec.output_limit = command.output_limit;
    spec.wall_limit = command.wall_limit;
    spec.grace = std::chrono::seconds(2);
    spec.memory_limit = command.memory_limit;
    spec.extra_descriptors = {jobs->read.get(), answers->write.get(), lifeline->read.get()};
    auto process = runner.run(spec);
    if (!process) return process.error();
    answers->write.reset();

    CommandOutcome outcome;
    outcome.process = std::move(*process);
    // The launcher's own words: the layers, and then an error when the command did not start after all.
    for (;;) {
        const auto said = read_message(answers->read.get());
        if (!said || !*said) break;
        if (const auto error = (*said)->header.find("error"); error != (*said)->header.end()) {
            return Error{error->is_string() ? error->get<std::string>() : "the command did not start"};
        }
        if (auto layers = sandbox_report_from_json((*said)->header.value("layers", Json::array()))) {
            outcome.layers = std::move(*layers);
        }
    }
    return outcome;
}

Result<CommandOutcome> run_command(const SandboxedCommand& command) {
    SystemProcessRunner runner;
    return run_command(command, runner);
}

}  // namespace kernelwright
