// The worker's side of a sandboxed job: this program, started a second time as `PROGRAM __worker KIND`.
//
// The first message tells the worker its policy and the kind's configuration; the handler prepares (loads
// libraries, opens what it needs: nothing of a candidate has been seen yet), then the sandbox closes and
// every further message is one job with one answer, until the parent closes the channel. Descriptors: 3 jobs
// in, 4 answers out, 5 the lifeline, whose end means that the parent has gone.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "harness/sandbox/message.h"
#include "harness/sandbox/policy.h"

namespace kernelwright {

inline constexpr const char* worker_argument = "__worker";

class WorkerHandler {
  public:
    virtual ~WorkerHandler() = default;
    // Before the sandbox closes. An Error ends the worker and is what WorkerSession::start returns.
    virtual Status prepare(const Json& configuration) {
        (void)configuration;
        return Done{};
    }
    virtual Message handle(Message job) = 0;
};

// The kinds of workers that a program has. Every program that starts workers (the command line, a test)
// passes its own table at the top of main.
using WorkerTable = std::map<std::string, std::function<std::unique_ptr<WorkerHandler>()>>;

// The exit status when this process was started as a worker, else nullopt:
//     int main(int argc, char** argv) {
//         if (const auto status = run_worker_if_asked(argc, argv, workers)) return *status;
std::optional<int> run_worker_if_asked(int argc, char** argv, const WorkerTable& table);

}  // namespace kernelwright
