// The compiled side of a candidate: one build and one loaded module for every distinct set of compile options
// that its plans ask for.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/candidate/candidate.h"
#include "harness/compile/compiler.h"
#include "harness/device/device.h"
#include "harness/profile/device_facts.h"

namespace kernelwright {

struct PlanBuild {
    DeviceFacts facts;  // of the target that this plan runs on
    std::shared_ptr<const Build> build;
    std::shared_ptr<Session> session;
    Signatures signatures;                             // by the plan's kernel name
    std::map<std::string, KernelResources> resources;  // by the plan's kernel name
    Environment environment;                           // device facts and resident_blocks for expressions
};

struct Builds {
    std::vector<PlanBuild> plans;         // as many as the candidate has; empty where diagnostics say why
    std::vector<Diagnostic> diagnostics;  // errors, and the compiler's warnings
    std::optional<Error> environment;     // no compiler
};

// Compiles and loads. `target` overrides what the plans state; empty: the plan's own, else sm_80.
Builds make_builds(const Candidate& candidate, const std::string& target, const DeviceTable& targets,
                   Compiler& compiler, Device& device);

// Would the device refuse the launch before it starts (threads, registers, shared memory)? Stage `launch`.
std::vector<Diagnostic> check_launch(const BoundPlan& plan, const PlanBuild& build, const std::string& file);

}  // namespace kernelwright
