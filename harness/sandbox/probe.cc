#include "harness/sandbox/probe.h"

#include "harness/sandbox/worker_protocol.h"
#include "harness/sandbox/worker_session.h"

namespace kernelwright {

Result<SandboxReport> probe_sandbox(const std::string& program) {
    WorkerStart start;
    start.kind = probe_worker_kind;
    start.program = program;
    auto session = WorkerSession::start(start);
    if (!session) return Error{session.error().message};
    return (*session)->layers();
}

}  // namespace kernelwright
