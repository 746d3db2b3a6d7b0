#include "harness/sandbox/worker_session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "harness/sandbox/worker.h"
#include "harness/sandbox/worker_protocol.h"

namespace kernelwright {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t error_output_kept = 4096;
constexpr milliseconds memory_period{20};

WorkerFailure setup_failure(std::string message) {
    return {WorkerFailure::Kind::setup, std::move(message), {}, {}};
}

// What a worker sees of this process's environment: nothing but where libraries and the locale are.
std::vector<std::string> worker_environment() {
    std::vector<std::string> out{fmt::format("{}=1", in_worker_variable), "LC_ALL=C", "PATH=/usr/bin:/bin"};
    for (const char* name : {"LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"}) {
        if (const char* value = std::getenv(name)) out.push_back(fmt::format("{}={}", name, value));
    }
    return out;
}

}  // namespace

const char* to_string(WorkerFailure::Kind kind) {
    switch (kind) {
        case WorkerFailure::Kind::timeout:
            return "timeout";
        case WorkerFailure::Kind::memory:
            return "memory";
        case WorkerFailure::Kind::crashed:
            return "crashed";
        case WorkerFailure::Kind::killed:
            return "killed";
        case WorkerFailure::Kind::protocol:
            return "protocol";
        case WorkerFailure::Kind::setup:
            return "setup";
    }
    return "crashed";
}

WorkerSession::WorkerSession(ChildProcess child, const WorkerStart& start, Pipe jobs, Pipe answers,
                             Pipe errors, Pipe lifeline)
    : child_(std::move(child)),
      kind_(start.kind),
      memory_limit_(start.policy.memory),
      address_space_(start.policy.address_space),
      jobs_(std::move(jobs.write)),
      answers_(std::move(answers.read)),
      errors_(std::move(errors.read)),
      lifeline_(std::move(lifeline.write)),
      decoder_(start.limits) {
    for (const int fd : {jobs_.get(), answers_.get(), errors_.get()}) set_non_blocking(fd);
}

WorkerSession::~WorkerSession() { close(); }

Result<std::unique_ptr<WorkerSession>, WorkerFailure> WorkerSession::start(const WorkerStart& start) {
    if (std::getenv(in_worker_variable) != nullptr) {
        return setup_failure(fmt::format(
            "a worker cannot start a worker: `{}` does not call run_worker_if_asked", start.program));
    }
    auto jobs = make_pipe(), answers = make_pipe(), errors = make_pipe(), lifeline = make_pipe();
    for (const auto* pipe : {&jobs, &answers, &errors, &lifeline}) {
        if (!*pipe) return setup_failure(pipe->error().str());
    }
    SpawnRequest request;
    request.program = start.program;
    request.arguments = {"kernelwright", worker_argument, start.kind};
    request.environment = worker_environment();
    request.descriptors = {-1,
                           errors->write.get(),
                           errors->write.get(),
                           jobs->read.get(),
                           answers->write.get(),
                           lifeline->read.get()};
    auto child = ChildProcess::spawn(request);
    if (!child) return setup_failure(child.error().str());
    std::unique_ptr<WorkerSession> session(new WorkerSession(std::move(*child), start, std::move(*jobs),
                                                             std::move(*answers), std::move(*errors),
                                                             std::move(*lifeline)));
    const Message hello{Json{{"policy", to_json(start.policy)}, {"configuration", start.configuration}}, {}};
    auto ready = session->call(hello, start.start_limit);
    if (!ready) {
        WorkerFailure failure = ready.error();
        failure.message = fmt::format("the {} worker did not start: {}", start.kind, failure.message);
        failure.kind = WorkerFailure::Kind::setup;
        return failure;
    }
    if (const auto error = ready->header.find("error"); error != ready->header.end()) {
        return setup_failure(error->is_string() ? error->get<std::string>() : "malformed error");
    }
    auto layers = sandbox_report_from_json(ready->header.value("layers", Json::array()));
    if (!layers) return setup_failure(layers.error().str());
    session->layers_ = std::move(*layers);
    return session;
}

Result<Message, WorkerFailure> WorkerSession::call(const Message& job, milliseconds limit) {
    if (!alive()) return WorkerFailure{WorkerFailure::Kind::crashed, "the worker has already gone", {}, {}};
    const std::string frame = encode(job);
    return exchange(frame, limit);
}

Result<Message, WorkerFailure> WorkerSession::exchange(std::string_view frame, milliseconds limit) {
    const BlockPipeSignal guard;
    const auto until = steady_clock::now() + limit;
    std::array<char, 1 << 16> buffer;
    for (;;) {
        auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
        if (left.count() <= 0) {
            return fail(WorkerFailure::Kind::timeout,
                        fmt::format("no answer from the {} worker within {} ms", kind_, limit.count()));
        }
        if (memory_limit_ > 0) {
            if (const auto now = child_.resident_memory(); now > memory_limit_) {
                return fail(WorkerFailure::Kind::memory,
                            fmt::format("the {} worker used {} MiB, more than its {} MiB", kind_, now >> 20,
                                        memory_limit_ >> 20));
            }
            left = std::min(left, memory_period);
        }
        std::array<pollfd, 4> fds{{{child_.pid_descriptor(), POLLIN, 0},
                                   {frame.empty() ? -1 : jobs_.get(), POLLOUT, 0},
                                   {answers_.get(), POLLIN, 0},
                                   {errors_.get(), POLLIN, 0}}};
        if (::poll(fds.data(), fds.size(),
                   static_cast<int>(std::min<std::int64_t>(left.count(), 3'600'000))) < 0 &&
            errno != EINTR) {
            return fail(WorkerFailure::Kind::crashed, "poll failed");
        }
        if (fds[3].revents != 0) keep_error_output();
        if ((fds[1].revents & (POLLOUT | POLLERR)) != 0) {
            const ssize_t n =
                ::write(jobs_.get(), frame.data(), std::min<std::size_t>(frame.size(), 1 << 20));
            if (n > 0) frame.remove_prefix(static_cast<std::size_t>(n));
            if (n < 0 && errno == EPIPE) frame = {};  // its end follows
        }
        if (fds[2].revents != 0) {
            const ssize_t n = ::read(answers_.get(), buffer.data(), buffer.size());
            if (n > 0) {
                decoder_.feed(buffer.data(), static_cast<std::size_t>(n));
                auto message = decoder_.next();
                if (!message) {
                    return fail(WorkerFailure::Kind::protocol,
                                fmt::format("the {} worker's answer is {}", kind_, message.error().message));
                }
                if (*message) {
                    if (!decoder_.empty()) {
                        return fail(WorkerFailure::Kind::protocol,
                                    fmt::format("the {} worker answered more than once", kind_));
                    }
                    return std::move(**message);
                }
                continue;
            }
            if (n == 0) {
                const auto end = child_.wait(milliseconds(1000));
                if (!end) return fail(WorkerFailure::Kind::protocol, "the worker closed its channel");
                return fail_ended(*end);
            }
        }
        if ((fds[0].revents & POLLIN) != 0 && fds[2].revents == 0) {
            if (const auto end = child_.wait(milliseconds(0))) return fail_ended(*end);
        }
    }
}

void WorkerSession::keep_error_output() {
    std::array<char, 1 << 14> buffer;
    for (int rounds = 0; rounds < 16; ++rounds) {
        const ssize_t n = ::read(errors_.get(), buffer.data(), buffer.size());
        if (n == 0) errors_.reset();
        if (n <= 0) break;
        error_output_.append(buffer.data(), static_cast<std::size_t>(n));
        if (error_output_.size() > 2 * error_output_kept) {
            error_output_.erase(0, error_output_.size() - error_output_kept);
        }
    }
}

WorkerFailure WorkerSession::fail(WorkerFailure::Kind kind, std::string message) {
    const ProcessEnd end = child_.finish();
    if (errors_) keep_error_output();
    return {kind, std::move(message), error_output_, end.usage};
}

WorkerFailure WorkerSession::fail_ended(const ProcessEnd& end) {
    if (errors_) keep_error_output();
    using Kind = WorkerFailure::Kind;
    WorkerFailure failure{Kind::crashed, fmt::format("the {} worker ended with {}", kind_, end.str()),
                          error_output_, end.usage};
    const bool signalled = end.how == ProcessEnd::How::signalled;
    if (!signalled && end.code == worker_protocol_status) failure.kind = Kind::protocol;
    if (!signalled && end.code == worker_memory_status) failure.kind = Kind::memory;
    if (signalled && end.code == SIGKILL) failure.kind = Kind::killed;
    if (signalled && end.code == SIGXCPU) failure.kind = Kind::timeout;
    // A library that cannot allocate says so and aborts, or jumps through a null pointer; the end of a
    // process that had most of its memory in use is put down to that.
    const std::uint64_t limit = address_space_ > 0 ? address_space_ : memory_limit_;
    if (failure.kind == Kind::crashed && signalled && limit > 0) {
        const bool says_so = error_output_.find("out of memory") != std::string::npos ||
                             error_output_.find("bad_alloc") != std::string::npos;
        if (says_so || end.usage.peak_memory > limit / 10 * 6) failure.kind = Kind::memory;
    }
    if (failure.kind == Kind::memory) {
        failure.message += fmt::format(" at {} MiB, near its memory limit", end.usage.peak_memory >> 20);
    }
    return failure;
}

void WorkerSession::close() {
    if (!child_.running()) return;
    jobs_.reset();
    if (!child_.wait(milliseconds(200))) child_.finish();
}

}  // namespace kernelwright
