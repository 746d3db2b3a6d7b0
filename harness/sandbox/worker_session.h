// The parent's side of a worker: start it, ask it, lose it.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "harness/core/process.h"
#include "harness/core/result.h"
#include "harness/sandbox/message.h"
#include "harness/sandbox/policy.h"

namespace kernelwright {

// A worker that did not answer. Each is an outcome of the job, not a fault of this program; the session is
// over.
struct WorkerFailure {
    enum class Kind {
        timeout,   // no answer by the deadline
        memory,    // it met its memory limit
        crashed,   // it died of a signal of its own doing, or left
        killed,    // it died of SIGKILL that this program did not send
        protocol,  // it answered with something that is no message
        setup      // it could not be started, or its sandbox not be closed
    };
    Kind kind = Kind::crashed;
    std::string message;       // one line
    std::string error_output;  // the end of what it wrote to standard error
    ProcessUsage usage;
};
const char* to_string(WorkerFailure::Kind kind);

struct WorkerStart {
    std::string kind;
    SandboxPolicy policy;
    Json configuration = Json::object();  // for the handler's prepare()
    std::string program = "/proc/self/exe";
    std::chrono::milliseconds start_limit{20'000};
    MessageLimits limits;  // of its answers
};

class WorkerSession {
  public:
    static Result<std::unique_ptr<WorkerSession>, WorkerFailure> start(const WorkerStart& start);
    ~WorkerSession();

    // One job, one answer. After a failure the session is over and every call fails.
    Result<Message, WorkerFailure> call(const Message& job, std::chrono::milliseconds limit);
    bool alive() const { return child_.running(); }
    const SandboxReport& layers() const { return layers_; }
    pid_t pid() const { return child_.pid(); }
    std::uint64_t resident_memory() const { return child_.resident_memory(); }  // bytes now
    // Lets the worker leave by itself, and kills it if it does not.
    void close();

  private:
    WorkerSession(ChildProcess child, const WorkerStart& start, Pipe jobs, Pipe answers, Pipe errors,
                  Pipe lifeline);
    Result<Message, WorkerFailure> exchange(std::string_view frame, std::chrono::milliseconds limit);
    WorkerFailure fail(WorkerFailure::Kind kind, std::string message);
    WorkerFailure fail_ended(const ProcessEnd& end);
    void keep_error_output();

    ChildProcess child_;
    std::string kind_;
    std::uint64_t memory_limit_ = 0, address_space_ = 0;
    UniqueFd jobs_, answers_, errors_, lifeline_;
    MessageDecoder decoder_;
    std::string error_output_;
    SandboxReport layers_;
};

}  // namespace kernelwright
