#include "harness/sandbox/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "harness/sandbox/supervise.h"
#include "harness/sandbox/worker_protocol.h"

namespace kernelwright {
namespace {

// A worker leaves without running destructors of statics or leak checks: the sandbox may deny what those
// need.
[[noreturn]] void leave(int status) { ::_exit(status); }

// The parent's death closes the lifeline, and SIGIO's default action ends this process at once, busy or not.
// PR_SET_PDEATHSIG would not do for a session: it fires when the *thread* that started the worker ends.
void tie_to_parent() {
    const int fd = worker_lifeline_fd;
    ::signal(SIGIO, SIG_DFL);
    ::fcntl(fd, F_SETOWN, ::getpid());
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_ASYNC | O_NONBLOCK);
    char byte = 0;
    if (::read(fd, &byte, 1) == 0) leave(worker_orphan_status);  // it went before the watch was set
}

void refuse(const Error& error) {
    (void)write_message(worker_answer_fd, Message{Json{{"error", error.str()}}, {}});
    leave(worker_setup_status);
}

int serve(WorkerHandler& handler) {
    for (;;) {
        auto job = read_message(worker_job_fd);
        if (!job) leave(worker_protocol_status);
        if (!*job) leave(0);
        try {
            if (!write_message(worker_answer_fd, handler.handle(std::move(**job))))
                leave(worker_protocol_status);
        } catch (const std::bad_alloc&) {
            leave(worker_memory_status);
        }
    }
}

class Idle final : public WorkerHandler {
  public:
    Message handle(Message) override { return {}; }
};

// The built-in kind that becomes an outside command once the sandbox has closed.
void become_command(const Json& configuration, const SandboxPolicy& policy) {
    std::vector<std::string> arguments, environment;
    std::string directory;
    try {
        arguments = configuration.at("arguments").get<std::vector<std::string>>();
        environment = configuration.at("environment").get<std::vector<std::string>>();
        directory = configuration.at("working_directory").get<std::string>();
    } catch (const Json::exception& e) {
        refuse(Error{e.what()});
    }
    std::vector<char*> argv, envp;
    for (std::string& s : arguments) argv.push_back(s.data());
    for (std::string& s : environment) envp.push_back(s.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    const auto report = apply_sandbox(policy);
    if (!report) refuse(report.error());
    if (::chdir(directory.c_str()) != 0) {
        refuse(Error{fmt::format("cannot enter {}: {}", directory, std::strerror(errno))});
    }
    (void)write_message(worker_answer_fd, Message{Json{{"layers", to_json(*report)}}, {}});
    ::close(worker_job_fd);
    ::fcntl(worker_answer_fd, F_SETFD, FD_CLOEXEC);
    ::execve(argv[0], argv.data(), envp.data());
    refuse(Error{fmt::format("cannot start `{}`: {}", argv[0], std::strerror(errno))});
}

int run_worker(const std::string& kind, const WorkerTable& table) {
    ::signal(SIGPIPE, SIG_IGN);
    const bool outside = kind == command_worker_kind;
    if (!outside) tie_to_parent();  // the supervisor of a command watches by itself
    auto first = read_message(worker_job_fd);
    if (!first || !*first) leave(worker_protocol_status);
    const Json& header = (*first)->header;
    if (!header.contains("policy") || !header.contains("configuration")) leave(worker_protocol_status);
    const auto policy = sandbox_policy_from_json(header.at("policy"));
    if (!policy) refuse(policy.error());
    const Json& configuration = header.at("configuration");

    if (outside) {
        supervise(worker_lifeline_fd, policy->mode != SandboxMode::off,
                  [&] { become_command(configuration, *policy); });
    }
    std::unique_ptr<WorkerHandler> handler;
    if (kind == probe_worker_kind) {
        handler = std::make_unique<Idle>();
    } else {
        const auto entry = table.find(kind);
        if (entry == table.end()) refuse(Error{fmt::format("this program has no worker of kind `{}`", kind)});
        handler = entry->second();
        if (const Status ready = handler->prepare(configuration); !ready) refuse(ready.error());
    }
    const auto report = apply_sandbox(*policy);
    if (!report) refuse(report.error());
    if (!write_message(worker_answer_fd, Message{Json{{"layers", to_json(*report)}}, {}})) {
        leave(worker_protocol_status);
    }
    return serve(*handler);
}

}  // namespace

std::optional<int> run_worker_if_asked(int argc, char** argv, const WorkerTable& table) {
    if (argc != 3 || std::string_view(argv[1]) != worker_argument) return std::nullopt;
    return run_worker(argv[2], table);
}

}  // namespace kernelwright
