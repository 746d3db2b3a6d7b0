// The kinds of workers that this program can be started again as.
#pragma once

#include "harness/sandbox/worker.h"

namespace kernelwright::cli {

WorkerTable workers();

}  // namespace kernelwright::cli
