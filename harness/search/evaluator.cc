#include "harness/search/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "harness/profile/scale.h"
#include "verifiers/numerics/draws.h"

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

// What the tensors that kernel `index` of a sequence is given hold: it can touch no more distinct bytes than
// there are. It reads inputs, and outputs that an earlier kernel was given (or that lie in an input's place).
// Unknown for a kernel that is given a scratch buffer, whose size is not known here.
BufferBytes buffer_bytes(const Task& task, const SymbolValues& symbols,
                         const std::vector<BoundKernel>& kernels, std::size_t index, bool has_scratch) {
    const auto is_tensor = [&](const std::string& name) {
        const auto named = [&](const TensorSpec& spec) { return spec.name == name; };
        return std::any_of(task.inputs.begin(), task.inputs.end(), named) ||
               std::any_of(task.outputs.begin(), task.outputs.end(), named);
    };
    for (const BoundArgument& a : kernels[index].arguments)
        if (has_scratch && (!a.tensormap.empty() || (!a.buffer.empty() && !is_tensor(a.buffer)))) return {};
    const auto given = [&](std::size_t kernel, const std::string& name) {
        const auto& arguments = kernels[kernel].arguments;
        return std::any_of(arguments.begin(), arguments.end(),
                           [&](const BoundArgument& a) { return a.buffer == name || !a.tensormap.empty(); });
    };
    BufferBytes bytes;
    const auto size = [&](const TensorSpec& spec) {
        const OperandShape o = operand(spec, symbols);
        return storage_bytes(o.dtype, element_count(o.shape));
    };
    for (const TensorSpec& spec : task.inputs)
        if (given(index, spec.name)) bytes.readable += size(spec);
    for (const TensorSpec& spec : task.outputs) {
        if (!given(index, spec.name)) continue;
        bytes.writable += size(spec);
        bool before = !spec.inplace_of.empty();
        for (std::size_t i = 0; i < index; ++i) before = before || given(i, spec.name);
        if (before) bytes.readable += size(spec);
    }
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
constexpr std::array<const char*, 23> telling{
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "kernelwright__distinct_load_sectors.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "kernelwright__hottest_atomic_operations.max",
    "smsp__inst_executed_op_shared_ld.sum",
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

// What to hold a counter against, where that is not in its name.
std::string note_of(const std::string& name, const KernelProfile& kernel) {
    const auto value = [&](const char* other) {
        const auto it = std::find_if(kernel.counters.begin(), kernel.counters.end(),
                                     [&](const CounterValue& c) { return c.name == other; });
        return it == kernel.counters.end() ? 0.0 : it->value;
    };
    const auto ideal = [&](const char* sectors, const char* requests) {
        const double asked = value(requests);
        return asked > 0 ? fmt::format("coalesced: {:.1f}", value(sectors) / asked) : "";
    };
    if (name == "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio")
        return ideal("kernelwright__ideal_load_sectors.sum",
                     "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum");
    if (name == "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio")
        return ideal("kernelwright__ideal_store_sectors.sum",
                     "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum");
    if (name == "smsp__thread_inst_executed_per_inst_executed.ratio") return "of 32 lanes";
    if (name == "kernelwright__hottest_atomic_operations.max") return "on one address, one a clock";
    return "";
}

std::vector<record::Counter> telling_counters(const KernelProfile& kernel) {
    std::vector<record::Counter> out;
    for (const char* name : telling) {
        const auto it = std::find_if(kernel.counters.begin(), kernel.counters.end(),
                                     [&](const CounterValue& c) { return c.name == name; });
        if (it != kernel.counters.end() && it->value != 0)
            out.push_back({it->name, it->unit, it->value, to_string(it->how), note_of(name, kernel)});
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
        for (std::size_t i = 0; i < tune.runs.size() && i < tune.kernels.size(); ++i) {
            const BufferBytes buffers = buffer_bytes(task, tune.symbols, tune.kernels, i, tune.has_scratch);
            input.kernels.push_back(executed(task, report, tune.kernels[i], tune.runs[i], buffers));
        }
        if (const auto work = task_work(task, tune.symbols)) input.work = *work;
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
        const std::string place =
            finding.lines.empty() ? "" : fmt::format(" (line {})", finding.lines.front().line);
        std::string line =
            fmt::format("{}{} (removing it: about {:.2f}x, modelled)", finding.message, place, finding.gain);
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
