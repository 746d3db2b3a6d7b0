// The Evaluator that believes nothing: the gate for the verdict, the profiler for the time and the counters.
#pragma once

#include <string>
#include <vector>

#include "harness/profile/profile.h"
#include "harness/search/interfaces.h"
#include "harness/tasks/task.h"
#include "verifiers/gate/gate.h"

namespace kernelwright::search {

// One profile for every tune shape that a passing check ran.
std::vector<Profile> profiles_of(const Task& task, const CheckReport& report, const DeviceTable& targets);

// An evaluation as the record keeps it. With several tune shapes the time is the sum over them, and the
// counters are those of the shape that takes longest.
record::Evaluation evaluation_of(const CheckReport& report, const std::vector<Profile>& profiles);

class GateEvaluator final : public Evaluator {
  public:
    // All references outlive the evaluator.
    GateEvaluator(const Task& task, const GateParts& parts, std::string target)
        : task_(task), parts_(parts), target_(std::move(target)) {}

    EvaluateOutcome evaluate(const std::string& source, const std::string& file, const PhaseSink& phase,
                             const std::stop_token& stop) override;

  private:
    const Task& task_;
    GateParts parts_;
    std::string target_;
};

}  // namespace kernelwright::search
