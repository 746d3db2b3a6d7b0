#pragma once

#include "harness/sandbox/worker.h"

namespace kernelwright {

// "echo" sends a job back; "tries" does what its job's header names and says how it went.
WorkerTable test_workers();

}  // namespace kernelwright
