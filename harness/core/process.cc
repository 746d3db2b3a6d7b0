#include "harness/core/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "harness/core/text.h"

namespace kernelwright {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

Error system_error(const std::string& what, int code) {
    return Error{fmt::format("cannot {}: {}", what, std::strerror(code))};
}

milliseconds to_ms(const timeval& time) { return milliseconds(time.tv_sec * 1000 + time.tv_usec / 1000); }

std::vector<char*> pointers(const std::vector<std::string>& strings) {
    std::vector<char*> out;
    out.reserve(strings.size() + 1);
    for (const std::string& s : strings) out.push_back(const_cast<char*>(s.c_str()));
    out.push_back(nullptr);
    return out;
}

int poll_ms(milliseconds left) {
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

// A small file of /proc; empty where there is none.
template <std::size_t N>
bool read_proc(const std::string& path, std::array<char, N>& text) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const ssize_t n = fd ? ::read(fd.get(), text.data(), text.size() - 1) : -1;
    text[n > 0 ? static_cast<std::size_t>(n) : 0] = '\0';
    return n > 0;
}

// Resident bytes of a process and of those below it. Pages that they share count for each of them.
std::uint64_t resident_of_tree(pid_t pid, int depth) {
    constexpr int deepest = 16;
    std::uint64_t bytes = 0;
    std::array<char, 128> text;
    unsigned long long total = 0, resident = 0;
    if (read_proc(fmt::format("/proc/{}/statm", pid), text) &&
        std::sscanf(text.data(), "%llu %llu", &total, &resident) == 2) {
        bytes = resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    }
    std::array<char, 4096> children;
    if (depth == deepest || !read_proc(fmt::format("/proc/{0}/task/{0}/children", pid), children))
        return bytes;
    for (const std::string& child : split(children.data(), ' ')) {
        if (const int number = std::atoi(child.c_str()); number > 0)
            bytes += resident_of_tree(number, depth + 1);
    }
    return bytes;
}

// posix_spawn's two attribute objects, destroyed with their owner.
struct SpawnAttributes {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    SpawnAttributes() {
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawnattr_init(&attributes);
    }
    SpawnAttributes(const SpawnAttributes&) = delete;
    SpawnAttributes& operator=(const SpawnAttributes&) = delete;
    ~SpawnAttributes() {
        ::posix_spawn_file_actions_destroy(&actions);
        ::posix_spawnattr_destroy(&attributes);
    }
};

// Reads what is there; false at the end of the stream.
bool drain(int fd, std::string& into, std::size_t limit, bool& truncated) {
    std::array<char, 65536> buffer;
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n == 0) return false;
    if (n < 0) return errno == EINTR || errno == EAGAIN;
    const std::size_t take = std::min(static_cast<std::size_t>(n), limit - std::min(limit, into.size()));
    into.append(buffer.data(), take);
    if (take < static_cast<std::size_t>(n)) truncated = true;
    return true;
}

}  // namespace

void set_non_blocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

BlockPipeSignal::BlockPipeSignal() {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, &before_);
}

BlockPipeSignal::~BlockPipeSignal() {
    if (sigismember(&before_, SIGPIPE) == 0) {
        sigset_t pipe;
        sigemptyset(&pipe);
        sigaddset(&pipe, SIGPIPE);
        const timespec now{};
        while (::sigtimedwait(&pipe, nullptr, &now) > 0) {
        }
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
}

int UniqueFd::release() { return std::exchange(fd_, -1); }

void UniqueFd::reset(int fd) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
}

Result<Pipe> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("make a pipe", errno);
    return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::string ProcessEnd::str() const {
    if (how == How::exited) return fmt::format("exit status {}", code);
    const char* name = ::sigdescr_np(code);
    return fmt::format("signal {} ({})", code, name != nullptr ? name : "unknown");
}

// ---- ChildProcess ---------------------------------------------------------------------------------------

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      pid_descriptor_(std::move(other.pid_descriptor_)),
      started_(other.started_),
      end_(std::exchange(other.end_, std::nullopt)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
    if (this != &other) {
        if (running()) finish();
        pid_ = std::exchange(other.pid_, 0);
        pid_descriptor_ = std::move(other.pid_descriptor_);
        started_ = other.started_;
        end_ = std::exchange(other.end_, std::nullopt);
    }
    return *this;
}

ChildProcess::~ChildProcess() {
    if (running()) finish();
}

Result<ChildProcess> ChildProcess::spawn(const SpawnRequest& request) {
    SpawnAttributes spawn;
    // Sources are first moved above every target, so that no dup2 overwrites one that is still needed.
    const int targets = static_cast<int>(request.descriptors.size());
    std::vector<UniqueFd> sources;
    for (int target = 0; target < targets; ++target) {
        const int wanted = request.descriptors[static_cast<std::size_t>(target)];
        UniqueFd source(wanted < 0 ? ::open("/dev/null", O_RDWR | O_CLOEXEC)
                                   : ::fcntl(wanted, F_DUPFD_CLOEXEC, targets + 16));
        if (source && source.get() < targets) {
            source = UniqueFd(::fcntl(source.get(), F_DUPFD_CLOEXEC, targets + 16));
        }
        if (!source) return system_error("duplicate a descriptor", errno);
        ::posix_spawn_file_actions_adddup2(&spawn.actions, source.get(), target);
        sources.push_back(std::move(source));
    }
    ::posix_spawn_file_actions_addclosefrom_np(&spawn.actions, targets);
    ::posix_spawn_file_actions_addchdir_np(&spawn.actions, request.working_directory.c_str());

    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&spawn.attributes, &none);
    ::posix_spawnattr_setsigdefault(&spawn.attributes, &all);
    ::posix_spawnattr_setflags(&spawn.attributes,
                               POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    std::vector<std::string> arguments = request.arguments;
    if (arguments.empty()) arguments.push_back(request.program);
    const std::vector<char*> argv = pointers(arguments);
    const std::vector<char*> envp = pointers(request.environment);

    ChildProcess child;
    child.started_ = steady_clock::now();
    pid_t pid = 0;
    const int failed = ::posix_spawn(&pid, request.program.c_str(), &spawn.actions, &spawn.attributes,
                                     argv.data(), envp.data());
    if (failed != 0) return system_error(fmt::format("start `{}`", request.program), failed);
    child.pid_ = pid;
    child.pid_descriptor_ = UniqueFd(open_pid_descriptor(pid));
    if (!child.pid_descriptor_) return system_error("watch a child process (pidfd_open)", errno);
    return child;
}

std::uint64_t ChildProcess::resident_memory() const { return running() ? resident_of_tree(pid_, 0) : 0; }

void ChildProcess::kill_group() {
    if (!running()) return;
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);  // the group exists only once the child has become its leader
}

std::optional<ProcessEnd> ChildProcess::wait(milliseconds limit) {
    if (end_) return end_;
    if (!running()) return std::nullopt;
    pollfd watch{pid_descriptor_.get(), POLLIN, 0};
    const auto until = steady_clock::now() + limit;
    for (;;) {
        const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
        const int ready = ::poll(&watch, 1, poll_ms(left));
        if (ready > 0) break;
        if (ready < 0 && errno == EINTR) continue;
        if (ready == 0 && steady_clock::now() < until) continue;
        return std::nullopt;
    }
    ::kill(-pid_, SIGKILL);  // what it left behind; its number is not reused before the wait below
    int status = 0;
    rusage usage{};
    while (::wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    ProcessEnd end;
    if (WIFSIGNALED(status)) {
        end.how = ProcessEnd::How::signalled;
        end.code = WTERMSIG(status);
    } else {
        end.code = WEXITSTATUS(status);
    }
    end.usage.wall = std::chrono::duration_cast<milliseconds>(steady_clock::now() - started_);
    end.usage.user = to_ms(usage.ru_utime);
    end.usage.system = to_ms(usage.ru_stime);
    end.usage.peak_memory = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
    pid_ = 0;
    pid_descriptor_.reset();
    end_ = end;
    return end;
}

ProcessEnd ChildProcess::finish() {
    kill_group();
    for (;;) {
        if (const auto end = wait(milliseconds(1000))) return *end;
        if (!running()) return ProcessEnd{};
    }
}

// ---- SystemProcessRunner --------------------------------------------------------------------------------

Result<ProcessResult> SystemProcessRunner::run(const ProcessSpec& spec) {
    auto in = make_pipe(), out = make_pipe(), err = make_pipe();
    for (const auto* pipe : {&in, &out, &err}) {
        if (!*pipe) return pipe->error();
    }
    SpawnRequest request = spec.spawn;
    request.descriptors = {in->read.get(), out->write.get(), err->write.get()};
    request.descriptors.insert(request.descriptors.end(), spec.extra_descriptors.begin(),
                               spec.extra_descriptors.end());
    auto child = ChildProcess::spawn(request);
    if (!child) return child.error();
    in->read.reset();
    out->write.reset();
    err->write.reset();
    set_non_blocking(in->write.get());

    const BlockPipeSignal guard;
    ProcessResult result;
    std::string_view input = spec.input;
    if (input.empty()) in->write.reset();
    const auto until = steady_clock::now() + spec.wall_limit;
    bool ended = false;
    // After the child's own end the streams are read to their end only for a moment: a grandchild that
    // escaped the kill may hold them open.
    auto stop_reading = until;
    while (!ended || out->read || err->read) {
        std::array<pollfd, 4> fds{{{ended ? -1 : child->pid_descriptor(), POLLIN, 0},
                                   {in->write ? in->write.get() : -1, POLLOUT, 0},
                                   {out->read ? out->read.get() : -1, POLLIN, 0},
                                   {err->read ? err->read.get() : -1, POLLIN, 0}}};
        const auto now = steady_clock::now();
        auto left = std::chrono::ceil<milliseconds>((ended ? stop_reading : until) - now);
        if (left.count() <= 0) {
            if (ended) break;
            result.timed_out = true;
        }
        if (!ended && spec.memory_limit > 0) {
            if (child->resident_memory() > spec.memory_limit) result.out_of_memory = true;
            left = std::min(left, milliseconds(20));
        }
        if (!ended && (result.timed_out || result.out_of_memory)) {
            std::optional<ProcessEnd> end;
            if (spec.grace.count() > 0) {
                ::kill(child->pid(), SIGTERM);
                end = child->wait(spec.grace);
            }
            result.end = end ? *end : child->finish();
            ended = true;
            stop_reading = now + milliseconds(200);
            continue;
        }
        if (::poll(fds.data(), fds.size(), poll_ms(left)) < 0 && errno != EINTR) break;
        if ((fds[1].revents & (POLLOUT | POLLERR | POLLHUP)) != 0) {
            const ssize_t n =
                ::write(in->write.get(), input.data(), std::min<std::size_t>(input.size(), 65536));
            if (n > 0) input.remove_prefix(static_cast<std::size_t>(n));
            if (input.empty() || (n < 0 && errno != EAGAIN && errno != EINTR)) in->write.reset();
        }
        if (fds[2].revents != 0 &&
            !drain(out->read.get(), result.output, spec.output_limit, result.output_truncated)) {
            out->read.reset();
        }
        if (fds[3].revents != 0 &&
            !drain(err->read.get(), result.error_output, spec.output_limit, result.error_output_truncated)) {
            err->read.reset();
        }
        if (!ended && (fds[0].revents & POLLIN) != 0) {
            if (const auto end = child->wait(milliseconds(0))) {
                result.end = *end;
                ended = true;
                in->write.reset();
                stop_reading = steady_clock::now() + milliseconds(200);
            }
        }
    }
    if (!ended) result.end = child->finish();
    return result;
}

int open_pid_descriptor(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

std::string find_program(const std::string& name, const std::string& search_path) {
    if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
    for (const std::string& folder : split(search_path, ':')) {
        const std::string path = (folder.empty() ? "." : folder) + "/" + name;
        std::error_code ignored;
        if (::access(path.c_str(), X_OK) == 0 && !std::filesystem::is_directory(path, ignored)) return path;
    }
    return "";
}

}  // namespace kernelwright
