// What the sandbox can do on this machine, for `doctor`.
#pragma once

#include <string>

#include "harness/core/result.h"
#include "harness/sandbox/policy.h"

namespace kernelwright {

// Starts a worker that puts every layer on itself and does nothing else. `program`: one that calls
// run_worker_if_asked.
Result<SandboxReport> probe_sandbox(const std::string& program = "/proc/self/exe");

}  // namespace kernelwright
