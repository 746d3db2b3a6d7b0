#include "harness/sandbox/supervise.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "harness/core/process.h"
#include "harness/sandbox/namespaces.h"
#include "harness/sandbox/worker_protocol.h"

namespace kernelwright {
namespace {

// No reader of the command's streams may wait for a process that only watches.
void leave_streams() {
    const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    for (const int stream : {0, 1, 2}) {
        if (null) ::dup2(null.get(), stream);
    }
}

int wait_for(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return SIGKILL;
    }
    return status;
}

// Process 1 of the name space: reaps, says how the command ended, and takes the rest with it.
[[noreturn]] void be_init(const Pipe& status, const std::function<void()>& command) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The supervisor may have gone before the line above: then nobody holds the reading end.
    pollfd reader{status.write.get(), 0, 0};
    if (::poll(&reader, 1, 0) > 0 && (reader.revents & POLLERR) != 0) ::_exit(worker_orphan_status);
    const pid_t pid = ::fork();
    if (pid == 0) {
        command();
        ::_exit(worker_setup_status);
    }
    leave_streams();
    ::close(worker_answer_fd);
    for (;;) {
        int ended = SIGKILL;
        const pid_t who = pid < 0 ? pid : ::wait(&ended);
        if (who < 0 && errno == EINTR) continue;
        if (who != pid && who > 0) continue;  // an orphan
        (void)!::write(status.write.get(), &ended, sizeof ended);
        ::_exit(0);
    }
}

pid_t parent_of(const char* process) {
    const std::string path = fmt::format("/proc/{}/stat", process);
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 512> text{};
    if (!fd || ::read(fd.get(), text.data(), text.size() - 1) <= 0) return 0;
    const std::string_view line(text.data());
    const std::size_t close = line.rfind(')');  // the name before it may hold anything
    char state = 0;
    int parent = 0;
    if (close == std::string_view::npos ||
        std::sscanf(text.data() + close + 1, " %c %d", &state, &parent) != 2)
        return 0;
    return parent;
}

void kill_children() {
    DIR* folder = ::opendir("/proc");
    if (folder == nullptr) return;
    const pid_t self = ::getpid();
    while (const dirent* entry = ::readdir(folder)) {
        const int pid = std::atoi(entry->d_name);
        if (pid > 0 && parent_of(entry->d_name) == self) ::kill(pid, SIGKILL);
    }
    ::closedir(folder);
}

// Children first; their own become this process's, round after round.
void kill_descendants() {
    for (int round = 0; round < 1000; ++round) {
        pid_t reaped = 0;
        while ((reaped = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
        }
        if (reaped < 0 && errno == ECHILD) return;
        kill_children();
        ::usleep(1000);
    }
}

[[noreturn]] void end_as(int status) {
    if (WIFSIGNALED(status)) {
        ::signal(WTERMSIG(status), SIG_DFL);
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, WTERMSIG(status));
        ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
        ::kill(::getpid(), WTERMSIG(status));
    }
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : worker_setup_status);
}

}  // namespace

void supervise(int lifeline, bool pid_namespace, const std::function<void()>& command) {
    // The starting thread waits for this process, so its end is the driver's.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t stops, before;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &stops, &before);
    const UniqueFd signals(::signalfd(-1, &stops, SFD_CLOEXEC));
    auto status = make_pipe();
    if (!status || !signals) ::_exit(worker_setup_status);
    const bool inside = pid_namespace && enter_pid_namespace();

    const auto start_command = [&] {
        ::close(lifeline);
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::sigprocmask(SIG_SETMASK, &before, nullptr);
        command();
    };
    const pid_t child = ::fork();
    if (child < 0) ::_exit(worker_setup_status);
    if (child == 0) {
        status->read.reset();
        if (inside) be_init(*status, start_command);
        start_command();
        ::_exit(worker_setup_status);
    }
    status->write.reset();
    leave_streams();
    ::close(worker_job_fd);
    ::close(worker_answer_fd);
    const UniqueFd ended(open_pid_descriptor(child));

    for (;;) {
        std::array<pollfd, 3> watch{
            {{ended.get(), POLLIN, 0}, {lifeline, POLLIN, 0}, {signals.get(), POLLIN, 0}}};
        // Without a descriptor for the child its end is looked for.
        if (::poll(watch.data(), watch.size(), ended ? -1 : 20) < 0 && errno != EINTR) break;
        if (watch[1].revents != 0 || watch[2].revents != 0) break;
        int how = 0;
        if (::waitpid(child, &how, WNOHANG) != child) continue;
        if (inside) {
            how = SIGKILL;  // init itself was killed
            (void)!::read(status->read.get(), &how, sizeof how);
        }
        kill_descendants();
        end_as(how);
    }
    ::kill(child, SIGKILL);
    wait_for(child);
    kill_descendants();
    end_as(SIGKILL);
}

}  // namespace kernelwright
