#include "harness/cli/interrupt.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <thread>

namespace kernelwright::cli {

// A thread that waits on a signalfd: no handler, so nothing has to be async-signal-safe and no state is
// global.
struct InterruptGuard::Watcher {
    std::stop_source source;
    int signals = -1;
    int wake = -1;
    sigset_t before{};
    std::thread thread;

    void watch() {
        while (true) {
            pollfd fds[2] = {{signals, POLLIN, 0}, {wake, POLLIN, 0}};
            if (::poll(fds, 2, -1) < 0) continue;
            if ((fds[1].revents & POLLIN) != 0) return;
            signalfd_siginfo info{};
            if (::read(signals, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) continue;
            if (source.stop_requested()) ::_exit(130);
            source.request_stop();
        }
    }
};

InterruptGuard::InterruptGuard() : watcher_(std::make_unique<Watcher>()) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, &watcher_->before);
    watcher_->signals = ::signalfd(-1, &set, SFD_CLOEXEC);
    watcher_->wake = ::eventfd(0, EFD_CLOEXEC);
    watcher_->thread = std::thread([w = watcher_.get()] { w->watch(); });
}

InterruptGuard::~InterruptGuard() {
    const std::uint64_t one = 1;
    (void)!::write(watcher_->wake, &one, sizeof one);
    watcher_->thread.join();
    ::close(watcher_->signals);
    ::close(watcher_->wake);
    pthread_sigmask(SIG_SETMASK, &watcher_->before, nullptr);
}

std::stop_token InterruptGuard::token() const { return watcher_->source.get_token(); }

}  // namespace kernelwright::cli
