#include "harness/search/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/profile/scale.h"

namespace kernelwright::search {
namespace {

OperandShape operand(const TensorSpec& spec, const SymbolValues& symbols) {
    const auto shape = spec.shape_at(symbols);
    return {spec.dtype, shape ? *shape : Shape{}};
}

// The type that a tensor instruction's operands have: that of the first floating or byte-sized input.
DType tensor_dtype(const Task& task) {
    for (const TensorSpec& spec : task.inputs) {
        if (spec.dtype == DType::f32) return DType::tf32;
        if (is_float(spec.dtype) || bits(spec.dtype) <= 8) return spec.dtype;
    }
    return DType::f16;
}

ExecutedKernel executed(const Task& task, const CheckReport& report, const BoundKernel& kernel,
                        const KernelRun& run) {
    ExecutedKernel out;
    out.name = kernel.name;
    out.grid = kernel.grid;
    out.block = kernel.block;
    out.dynamic_shared = kernel.dynamic_shared;
    out.tensor_dtype = tensor_dtype(task);
    const auto resources = report.resources.find(kernel.name);
    if (resources != report.resources.end()) out.resources = resources->second;
    out.counted_blocks = run.blocks_run;
    out.counters = scale_to_grid(run.counters, run.blocks_run, run.blocks_total);
    return out;
}

}  // namespace

std::vector<Profile> profiles_of(const Task& task, const CheckReport& report, const DeviceTable& targets) {
    std::vector<Profile> out;
    const auto facts = targets.find(report.target.empty() ? default_target : report.target);
    if (!facts) return out;
    for (const TuneRun& tune : report.tune) {
        ProfileInput input;
        input.task = task.name;
        input.shape = tune.symbols;
        for (std::size_t i = 0; i < tune.runs.size() && i < tune.kernels.size(); ++i) {
            input.kernels.push_back(executed(task, report, tune.kernels[i], tune.runs[i]));
        }
        std::vector<OperandShape> inputs, outputs;
        for (const TensorSpec& spec : task.inputs) inputs.push_back(operand(spec, tune.symbols));
        for (const TensorSpec& spec : task.outputs) outputs.push_back(operand(spec, tune.symbols));
        input.work = compulsory_work(task.op, task.params, inputs, outputs);
        out.push_back(make_profile(input, *facts));
    }
    return out;
}

record::Evaluation evaluation_of(const CheckReport& report, const std::vector<Profile>& profiles) {
    record::Evaluation out;
    out.pass = report.pass;
    out.stage = report.stage;
    out.diagnostics = report.diagnostics;
    out.shapes_checked = static_cast<int>(report.shapes_checked);
    out.cases_checked = static_cast<int>(report.cases_checked);
    out.depth = report.pass ? "tune shapes" : report.shapes_checked > 0 ? "check shapes" : "smallest shape";
    out.replay = report.replay;
    if (!report.pass || profiles.empty()) return out;
    record::TimeEstimate time;
    const Profile* longest = &profiles.front();
    for (const Profile& profile : profiles) {
        time.seconds += profile.estimate.us * 1e-6;
        if (profile.roofline) time.roofline_seconds += profile.roofline->bound_us * 1e-6;
        if (profile.estimate.us > longest->estimate.us) longest = &profile;
    }
    time.how = to_string(longest->time_how);
    time.bound = longest->estimate.bound;
    out.time = time;
    if (const KernelProfile* kernel = longest->longest()) {
        for (const CounterValue& c : kernel->counters)
            out.counters.push_back({c.name, c.unit, c.value, to_string(c.how), ""});
    }
    for (const Finding& finding : longest->findings) {
        std::string line =
            fmt::format("{} (removing it: about {:.2f}x, modelled)", finding.message, finding.gain);
        out.bottlenecks.push_back(std::move(line));
    }
    out.profile = to_json(*longest);
    return out;
}

EvaluateOutcome GateEvaluator::evaluate(const std::string& source, const std::string& file,
                                        const PhaseSink& phase, const std::stop_token& stop) {
    GateOptions options;
    options.target = target_;
    options.stop = stop;
    options.progress = phase;
    if (phase) phase("compile");
    const CheckReport report = check(task_, source, file, parts_, options);
    EvaluateOutcome out;
    if (report.environment) {
        out.missing = report.environment;
        return out;
    }
    if (report.interrupted) {
        out.abandoned = true;
        return out;
    }
    if (phase && report.pass) phase("profile");
    out.evaluation = evaluation_of(
        report, report.pass ? profiles_of(task_, report, parts_.targets) : std::vector<Profile>{});
    return out;
}

}  // namespace kernelwright::search
