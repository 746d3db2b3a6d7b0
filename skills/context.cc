#include "skills/context.h"

#include <algorithm>

namespace kernelwright {
namespace {

Json operands(const std::vector<OperandShape>& list) {
    Json json = Json::array();
    for (const OperandShape& operand : list)
        json.push_back({{"dtype", to_string(operand.dtype)},
                        {"shape", operand.shape},
                        {"elements", element_count(operand.shape)}});
    return json;
}

Json task_table(const SkillTask& task) {
    Json json{{"name", task.name},
              {"op", task.op},
              {"params", task.params},
              {"symbols", Json(task.symbols)},
              {"inputs", operands(task.inputs)},
              {"outputs", operands(task.outputs)}};
    if (!task.inputs.empty()) json["dtype"] = to_string(task.inputs[0].dtype);
    Json dtypes = Json::object();
    for (const auto* list : {&task.inputs, &task.outputs})
        for (const OperandShape& operand : *list) dtypes[to_string(operand.dtype)] = true;
    json["dtypes"] = dtypes;
    if (task.work) {
        json["matrix"] = task.work->matrix;
        json["flops"] = task.work->flops;
        json["read_bytes"] = task.work->read_bytes;
        json["written_bytes"] = task.work->written_bytes;
    }
    return json;
}

Json device_table(const DeviceFacts& facts) {
    Json tensor = Json::object();
    for (const auto& [dtype, rate] : facts.tensor) tensor[to_string(dtype)] = rate;
    return {{"name", facts.name},
            {"title", facts.title},
            {"target", facts.target},
            {"cc", facts.compute_capability},
            {"sm_count", facts.sm_count},
            {"clock_mhz", facts.clock_mhz},
            {"dram_gb_per_s", facts.dram_gb_per_s},
            {"l2_bytes", facts.l2_bytes},
            {"smem_optin", facts.shared_optin_per_block},
            {"smem_per_sm", facts.shared_per_sm},
            {"registers_per_sm", facts.registers_per_sm},
            {"max_warps", facts.max_warps_per_sm},
            {"max_blocks", facts.max_blocks_per_sm},
            {"fp32_lanes", facts.fp32_lanes},
            {"tensor", tensor}};
}

}  // namespace

Json make_context(const SkillTask& task, const DeviceFacts& facts,
                  const std::map<std::string, int>& history) {
    return {{"phase", "draft"},
            {"task", task_table(task)},
            {"device", device_table(facts)},
            {"history", Json(history)},
            {"counters", Json::object()},
            {"view", Json::object()},
            {"model", {{"share", Json::object()}}},
            {"launch", Json::object()},
            {"resources", Json::object()},
            {"findings", Json::object()},
            {"where", Json::object()}};
}

Json make_context(const SkillTask& task, const Profile& profile, const DeviceFacts& facts,
                  const std::map<std::string, int>& history, const std::string& phase) {
    Json context = make_context(task, facts, history);
    context["phase"] = phase;
    const KernelProfile* kernel = profile.longest();
    if (kernel == nullptr) return context;
    const KernelEstimate& e =
        profile.estimate.kernels[static_cast<std::size_t>(kernel - profile.kernels.data())];

    for (const CounterValue& c : kernel->counters) context["counters"][c.name] = c.value;
    Json view = Json::object();
    for (const auto& [name, value] : kernel->derived) view[name] = value;
    view["occupancy"] = e.occupancy.fraction;
    view["limiter"] = e.occupancy.limiter;
    view["blocks_per_sm"] = e.occupancy.blocks_per_sm;
    view["warps_per_sm"] = e.occupancy.warps_per_sm;
    view["waves"] = e.occupancy.waves;
    view["sms_used"] = e.sms_used;
    context["view"] = view;

    Json share = Json::object();
    for (const ResourceTime& time : e.times) share[time.name] = time.us / e.times.front().us;
    context["model"] = {{"time_us", profile.estimate.us},
                        {"kernel_us", e.us},
                        {"launch_us", e.launch_us},
                        {"bound", e.bound},
                        {"share", share},
                        {"dram_bytes", e.traffic.dram_bytes}};
    if (profile.roofline) {
        context["model"]["roofline_us"] = profile.roofline->bound_us;
        context["model"]["roofline_bound"] = profile.roofline->bound;
        context["model"]["fraction"] = profile.roofline_fraction();
    }
    const std::uint32_t threads = kernel->block[0] * kernel->block[1] * kernel->block[2];
    context["launch"] = {{"kernels", profile.kernels.size()},
                         {"kernel", kernel->name},
                         {"blocks", kernel->blocks},
                         {"threads", threads},
                         {"total_threads", kernel->blocks * threads},
                         {"dynamic_shared", kernel->dynamic_shared}};
    const KernelResources& r = kernel->resources;
    context["resources"] = {{"registers", r.registers},
                            {"shared", r.static_shared + kernel->dynamic_shared},
                            {"spill_bytes", r.spill_store_bytes + r.spill_load_bytes},
                            {"stack_bytes", r.stack_bytes}};
    // The findings of this kernel (and of the sequence): what mending them should gain, and where they are.
    for (const Finding& finding : profile.findings) {
        if (!finding.kernel.empty() && finding.kernel != kernel->name) continue;
        context["findings"][finding.id] = finding.gain;
        if (!finding.lines.empty() && finding.lines[0].line > 0)
            context["where"][finding.id] = "line " + std::to_string(finding.lines[0].line);
    }
    return context;
}

}  // namespace kernelwright
