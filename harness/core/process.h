// Child processes: spawn, feed, collect capped output, limit the wall clock, kill the whole group, read what
// it used. Everything outside the program that is run goes through ProcessRunner, so that a test can answer
// instead.
//
// Spawning is posix_spawn only: this program has threads, and code between fork and exec could meet a lock
// that a thread held. Whatever must happen inside the child (limits, sandbox) therefore happens after exec,
// in a second copy of this program (harness/sandbox/worker.h).
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/result.h"

namespace kernelwright {

// Owns a file descriptor.
class UniqueFd {
  public:
    UniqueFd() = default;
    explicit UniqueFd(int fd) : fd_(fd) {}
    UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
    UniqueFd& operator=(UniqueFd&& other) noexcept;
    ~UniqueFd() { reset(); }

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    int release();
    void reset(int fd = -1);

  private:
    int fd_ = -1;
};

// A pipe, both ends close-on-exec.
struct Pipe {
    UniqueFd read, write;
};
Result<Pipe> make_pipe();

// What a process used.
struct ProcessUsage {
    std::chrono::milliseconds wall{0}, user{0}, system{0};
    std::uint64_t peak_memory = 0;  // bytes, resident
};

// How a process ended.
struct ProcessEnd {
    enum class How { exited, signalled } how = How::exited;
    int code = 0;  // the exit status, or the signal
    ProcessUsage usage;
    bool ok() const { return how == How::exited && code == 0; }
    // "exit status 3", "signal 9 (Killed)"
    std::string str() const;
};

struct SpawnRequest {
    std::string program;                   // a path, not searched for
    std::vector<std::string> arguments;    // argv[0] included; empty: {program}
    std::vector<std::string> environment;  // the whole of it, "NAME=VALUE"
    std::filesystem::path working_directory = "/";
    // The child's descriptors 0, 1, 2, ... in order; -1 gives /dev/null. All others are closed.
    std::vector<int> descriptors;
};

// A running child in its own session and process group. The destructor kills the group and reaps the child.
class ChildProcess {
  public:
    ChildProcess() = default;
    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess& operator=(ChildProcess&& other) noexcept;
    ~ChildProcess();

    static Result<ChildProcess> spawn(const SpawnRequest& request);

    bool running() const { return pid_ > 0; }
    pid_t pid() const { return pid_; }
    int pid_descriptor() const { return pid_descriptor_.get(); }  // becomes readable when the child ends
    // Bytes now, with those of the processes that it started and that they started; 0: unknown.
    std::uint64_t resident_memory() const;
    void kill_group();
    // Waits at most `limit`; nullopt: still running.
    std::optional<ProcessEnd> wait(std::chrono::milliseconds limit);
    // Kills what is left of the group and waits.
    ProcessEnd finish();

  private:
    pid_t pid_ = 0;
    UniqueFd pid_descriptor_;
    std::chrono::steady_clock::time_point started_;
    std::optional<ProcessEnd> end_;
};

struct ProcessSpec {
    SpawnRequest spawn;  // `descriptors` is ignored: 0 is fed, 1 and 2 are collected
    std::string input;
    std::size_t output_limit = 1 << 20;  // of each stream; what comes after is read and thrown away
    std::chrono::milliseconds wall_limit{60'000};
    std::uint64_t memory_limit = 0;  // resident bytes, watched from outside; 0: none
    // A child that looks after others is asked to end them (SIGTERM) this long before its group is killed.
    std::chrono::milliseconds grace{0};
    // Extra descriptors for the child, from 3 upwards.
    std::vector<int> extra_descriptors;
};

struct ProcessResult {
    ProcessEnd end;
    bool timed_out = false, out_of_memory = false;
    std::string output, error_output;
    bool output_truncated = false, error_output_truncated = false;
    bool ok() const { return end.ok() && !timed_out && !out_of_memory; }
};

class ProcessRunner {
  public:
    virtual ~ProcessRunner() = default;
    // An Error means that the program could not be started.
    virtual Result<ProcessResult> run(const ProcessSpec& spec) = 0;
};

class SystemProcessRunner final : public ProcessRunner {
  public:
    Result<ProcessResult> run(const ProcessSpec& spec) override;
};

// While it lives, writing to a pipe whose reader has gone is EPIPE in this thread, not a signal.
class BlockPipeSignal {
  public:
    BlockPipeSignal();
    BlockPipeSignal(const BlockPipeSignal&) = delete;
    BlockPipeSignal& operator=(const BlockPipeSignal&) = delete;
    ~BlockPipeSignal();

  private:
    sigset_t before_;
};

void set_non_blocking(int fd);

// A descriptor that becomes readable when the process ends; -1: none.
int open_pid_descriptor(pid_t pid);

// The program found on `search_path` (PATH's form), or the path itself when the name holds a slash; "" when
// none.
std::string find_program(const std::string& name, const std::string& search_path);

}  // namespace kernelwright
