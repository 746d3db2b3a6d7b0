#include "harness/search/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

// What the tensors of a shape hold: no kernel can touch more distinct bytes than there are.
BufferBytes buffer_bytes(const std::vector<OperandShape>& inputs, const std::vector<OperandShape>& outputs) {
    BufferBytes bytes;
    for (const OperandShape& o : outputs) bytes.writable += storage_bytes(o.dtype, element_count(o.shape));
    bytes.all = bytes.writable;
    for (const OperandShape& i : inputs) bytes.all += storage_bytes(i.dtype, element_count(i.shape));
    return bytes;
}

ExecutedKernel executed(const Task& task, const CheckReport& report, const BoundKernel& kernel,
                        const KernelRun& run, const BufferBytes& buffers) {
    ExecutedKernel out;
    out.name = kernel.name;
    out.grid = kernel.grid;
    out.block = kernel.block;
    out.dynamic_shared = kernel.dynamic_shared;
    out.tensor_dtype = tensor_dtype(task);
    const auto resources = report.resources.find(kernel.name);
    if (resources != report.resources.end()) out.resources = resources->second;
    out.counted_blocks = run.blocks_run;
    out.counters = scale_to_grid(run.counters, run.blocks_run, run.blocks_total, buffers);
    return out;
}

// The counters that an author can act on, most telling first; the rest stays in the profile.
constexpr std::array<const char*, 22> telling{
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "kernelwright__distinct_load_sectors.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "smsp__sass_branch_targets_threads_divergent.sum",
    "smsp__inst_executed_pipe_tensor.sum",
    "smsp__inst_executed_pipe_xu.sum",
    "smsp__inst_executed_pipe_fp64.sum",
    "launch__grid_size",
    "launch__block_size",
    "launch__registers_per_thread",
    "launch__waves_per_multiprocessor",
    "sm__maximum_warps_per_active_cycle_pct",
    "dram__bytes.sum"};

std::vector<record::Counter> telling_counters(const KernelProfile& kernel) {
    std::vector<record::Counter> out;
    for (const char* name : telling) {
        const auto it = std::find_if(kernel.counters.begin(), kernel.counters.end(),
                                     [&](const CounterValue& c) { return c.name == name; });
        if (it != kernel.counters.end() && it->value != 0)
            out.push_back({it->name, it->unit, it->value, to_string(it->how), ""});
    }
    return out;
}

}  // namespace

std::vector<Profile> profiles_of(const Task& task, const CheckReport& report, const DeviceTable& targets) {
    std::vector<Profile> out;
    const auto facts = targets.find(!report.facts.empty()   ? report.facts
                                    : report.target.empty() ? default_target
                                                            : report.target);
    if (!facts) return out;
    for (const TuneRun& tune : report.tune) {
        ProfileInput input;
        input.task = task.name;
        input.shape = tune.symbols;
        std::vector<OperandShape> inputs, outputs;
        for (const TensorSpec& spec : task.inputs) inputs.push_back(operand(spec, tune.symbols));
        for (const TensorSpec& spec : task.outputs) outputs.push_back(operand(spec, tune.symbols));
        // With scratch the distinct bytes may be more than the tensors hold; then there is no cap.
        const BufferBytes buffers = tune.has_scratch ? BufferBytes{} : buffer_bytes(inputs, outputs);
        for (std::size_t i = 0; i < tune.runs.size() && i < tune.kernels.size(); ++i) {
            input.kernels.push_back(executed(task, report, tune.kernels[i], tune.runs[i], buffers));
        }
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
    const auto unverified = std::count_if(report.tune.begin(), report.tune.end(),
                                          [](const TuneRun& run) { return !run.verified; });
    if (report.pass && unverified > 0)
        out.depth += fmt::format(" ({} of {} run but not verified)", unverified, report.tune.size());
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
    if (const KernelProfile* kernel = longest->longest()) out.counters = telling_counters(*kernel);
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
    if (report.environment || report.page_fault) {
        out.missing = report.environment ? report.environment : report.page_fault;
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
