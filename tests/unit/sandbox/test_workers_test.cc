#include "tests/unit/sandbox/test_workers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "harness/core/process.h"
#include "harness/sandbox/worker_protocol.h"

namespace kernelwright {
namespace {

class Echo final : public WorkerHandler {
  public:
    Message handle(Message job) override {
        job.header["times"] = ++times_;
        return job;
    }

  private:
    int times_ = 0;
};

class Unready final : public WorkerHandler {
  public:
    Status prepare(const Json&) override { return Error{"the thing it needs is not there"}; }
    Message handle(Message job) override { return job; }
};

std::string outcome(bool ok) { return ok ? "ok" : std::strerror(errno); }

// Written to, so that no optimiser takes the allocation away.
volatile char sink;

std::string try_to(const std::string& what, const std::string& argument) {
    if (what == "read") {
        const UniqueFd fd(::open(argument.c_str(), O_RDONLY | O_CLOEXEC));
        char byte = 0;
        return outcome(fd && ::read(fd.get(), &byte, 1) >= 0);
    }
    if (what == "write")
        return outcome(bool(UniqueFd(::open(argument.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600))));
    if (what == "truncate") return outcome(::truncate(argument.c_str(), 0) == 0);
    if (what == "remove") return outcome(::unlink(argument.c_str()) == 0);
    if (what == "connect") {
        const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (!fd) return outcome(false);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(argument)));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return outcome(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    }
    if (what == "signal") return outcome(::kill(std::stoi(argument), 0) == 0);
    if (what == "trace") return outcome(::ptrace(PTRACE_SEIZE, std::stoi(argument), nullptr, nullptr) == 0);
    if (what == "fork") {
        const pid_t child = ::fork();
        if (child == 0) ::_exit(0);
        return outcome(child > 0);
    }
    if (what == "exec") {
        ::execl("/bin/true", "true", nullptr);
        return outcome(false);
    }
    if (what == "thread") {
        try {
            std::thread([] {}).join();
            return "ok";
        } catch (const std::system_error& e) {
            return e.what();
        }
    }
    if (what == "environment") return std::getenv(argument.c_str()) != nullptr ? "set" : "unset";
    if (what == "spin") {
        for (;;) sink = 1;
    }
    if (what == "sleep") {
        for (;;) ::pause();
    }
    if (what == "swell") {
        const std::size_t size = std::size_t{1} << 20;
        for (;;) {
            char* block = new char[size];
            for (std::size_t i = 0; i < size; i += 4096) block[i] = 1;
            sink = block[0];
        }
    }
    if (what == "crash") {
        ::signal(SIGSEGV, SIG_DFL);
        ::raise(SIGSEGV);
    }
    if (what == "leave") ::_exit(7);
    if (what == "complain") {
        const std::string text = argument + "\n";
        (void)!::write(2, text.data(), text.size());
        ::_exit(8);
    }
    if (what == "garbage") {
        (void)!::write(worker_answer_fd, argument.data(), argument.size());
        for (;;) ::pause();
    }
    if (what == "flood") {
        const std::string text(1 << 16, 'x');
        for (int i = 0; i < 200; ++i) (void)!::write(2, text.data(), text.size());
        return "ok";
    }
    return "unknown";
}

class Probe final : public WorkerHandler {
  public:
    Message handle(Message job) override {
        return {Json{{"answer", try_to(job.header.value("do", ""), job.header.value("with", ""))}}, {}};
    }
};

}  // namespace

WorkerTable test_workers() {
    WorkerTable table;
    table["echo"] = [] { return std::make_unique<Echo>(); };
    table["tries"] = [] { return std::make_unique<Probe>(); };
    table["unready"] = [] { return std::make_unique<Unready>(); };
    return table;
}

}  // namespace kernelwright
