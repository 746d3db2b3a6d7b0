// The parts that check, profile and run work with, made once from the command line's choices.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "harness/cli/context.h"
#include "harness/compile/compiler.h"
#include "harness/device/device.h"
#include "harness/profile/device_facts.h"
#include "harness/tasks/task.h"
#include "verifiers/gate/expectations.h"
#include "verifiers/gate/gate.h"

namespace kernelwright::cli {

struct WorkbenchOptions {
    std::string device = "emulator";      // or cuda:N
    std::string target;                   // empty: the candidate's own
    std::string sandbox = "best-effort";  // or require, off
};

// An Error and the exit code that belongs to it.
struct Refusal {
    Exit exit = Exit::usage;
    Error error;
};

// A page by its path, or by its name in the library; the error for one that is not there names the nearest.
Result<Task> load_named_task(const std::string& given);

struct Workbench {
    std::filesystem::path data;
    DeviceTable targets;
    std::unique_ptr<Compiler> compiler;
    std::unique_ptr<Device> device;

    // Loads and validates a page.
    Result<Task, Refusal> task(const std::string& given) const;
    Result<std::unique_ptr<Expectations>, Refusal> expectations(const Task& task) const;
};

Result<Workbench, Refusal> make_workbench(const WorkbenchOptions& options);

}  // namespace kernelwright::cli
