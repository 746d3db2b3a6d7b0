// The gate: nothing is believed until it has passed here. `check` takes a task and a candidate through the
// stages of a verdict in their order (plan, policy, compile, launch, sanitize, numerics, integrity, limits),
// smallest shape first, and stops at the first failure; docs/verdicts.md tells what each stage does and why.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/candidate/candidate.h"
#include "harness/compile/compiler.h"
#include "harness/core/diagnostic.h"
#include "harness/core/json.h"
#include "harness/device/device.h"
#include "harness/profile/device_facts.h"
#include "harness/tasks/task.h"
#include "verifiers/gate/expectations.h"

namespace kernelwright {

struct GateOptions {
    std::string target;                    // "sm_90a", "h100"; empty: the candidate's own, else sm_80
    std::optional<SymbolValues> shape;     // check this shape alone
    std::optional<std::string> case_name;  // ... and this draw alone
    std::uint64_t seed = 1;
    bool tune = true;  // run (and count) the tune shapes after the check shapes
    // Work that the draws beyond the first may take on one shape, in executed warp instructions; with it the
    // number of draws on a large shape is the same on every machine.
    std::uint64_t work_per_shape = 6'000'000;
    std::chrono::milliseconds time_per_launch{20'000};
    std::function<void(const std::string&)> progress;  // "M=3 N=17: normal"
    std::stop_token stop;
};

// What one tune shape's launch sequence counted.
struct TuneRun {
    SymbolValues symbols;
    int plan = 0;
    std::vector<BoundKernel> kernels;
    std::vector<KernelRun> runs;  // counters of the blocks that were run
    bool has_scratch = false;     // the plan has scratch buffers
    bool verified = false;        // outputs compared (in full, or those of the sampled blocks)
};

struct CheckReport {
    std::string task, candidate, device, target;
    std::string facts;  // the device whose limits and rates hold: "a100-sxm"
    bool pass = false;
    std::optional<Stage> stage;           // the first that failed
    std::vector<Diagnostic> diagnostics;  // errors first
    std::int64_t shapes_checked = 0, cases_checked = 0;
    std::string replay;
    std::vector<TuneRun> tune;
    std::map<std::string, KernelResources> resources;  // by the plan's kernel name
    std::optional<Error> page_fault;   // the page's own reference failed: no verdict, exit code 2
    std::optional<Error> environment;  // something needed is missing: no verdict, exit code 3
    bool interrupted = false;
};

Json to_json(const CheckReport& report);  // schema kernelwright.check/1

struct GateParts {
    Compiler& compiler;
    Device& device;
    Expectations& expectations;  // the reference, with a cache over (shape, case, seed)
    const DeviceTable& targets;
};

CheckReport check(const Task& task, const std::string& source, const std::string& file,
                  const GateParts& parts, const GateOptions& options);

// Is the page sound beyond its syntax: does the op take these operands and params, do shapes and dtypes of
// the outputs agree with the reference, can its values be drawn?
Status validate_task(const Task& task);
// Can the page's op be had at this shape: operands that fit together, outputs as the page declares them?
Status op_takes_shape(const Task& task, const SymbolValues& symbols);

// Is `name` one of the page's draws? The error names the nearest.
Status known_case(const Task& task, const std::string& name);

// The op's params with every default filled in: what a launch plan may name beyond what the page writes.
Json default_params(const Task& task, const SymbolValues& symbols);

}  // namespace kernelwright
