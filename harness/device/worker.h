// The emulated GPU in a sandboxed worker process: the same Device interface, a process of its own for every
// loaded module. A worker that hangs, dies or eats its memory is a JobFailure; the driver goes on.
#pragma once

#include <cstdint>
#include <memory>

#include "harness/device/device.h"
#include "harness/sandbox/policy.h"
#include "harness/sandbox/worker.h"

namespace kernelwright {

inline constexpr const char* emulator_worker_kind = "emulator";

// The worker's side; goes into the program's WorkerTable under `emulator_worker_kind`.
std::unique_ptr<WorkerHandler> make_emulator_worker();

struct WorkerDeviceOptions {
    SandboxMode sandbox = SandboxMode::best_effort;
    std::uint64_t memory = std::uint64_t{8} << 30;  // bytes, resident, of one worker
    std::chrono::milliseconds load_limit{20'000};
    std::chrono::milliseconds grace{5'000};  // beyond a job's own time limits
};
std::unique_ptr<Device> make_worker_device(const WorkerDeviceOptions& options);

}  // namespace kernelwright
