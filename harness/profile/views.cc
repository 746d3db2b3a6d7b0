// The eight utilisation views, as far as exact counters and the model carry. What only hardware can tell says
// "not measured".
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/profile/profile.h"

namespace kernelwright {
namespace {

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

View not_measured(const char* name, const char* why) { return {name, std::nullopt, why}; }

View roofline_view(const Estimate& estimate, const std::optional<Roofline>& roofline) {
    if (!roofline) return not_measured("roofline", "not measured: the task's compulsory work is not known");
    const Roofline& r = *roofline;
    const double percent = 100 * ratio(r.bound_us, estimate.us);
    // Without a count of operations (a page with its own reference, a copy) there is no intensity to speak
    // of.
    const std::string intensity =
        r.work.flops > 0 ? fmt::format("{:.3g} flop per byte, the device turns at {:.3g} against {}",
                                       r.intensity, r.ridge, r.peak)
                         : fmt::format("{:.3g} bytes in and out, no operations counted",
                                       r.work.read_bytes + r.work.written_bytes);
    return {
        "roofline", How::modelled,
        fmt::format("no kernel can be faster than {:.3g} us here ({} bound: {}); this one reaches {} of that",
                    r.bound_us, r.bound, intensity, percent_text(percent))};
}

View fill_view(const ProfileInput& input, const ExecutedKernel* kernel) {
    double issued = 0;
    bool sampled = false;
    for (const ExecutedKernel& k : input.kernels) {
        issued += double(k.counters.tensor_flops);
        sampled = sampled || k.sampled();
    }
    if (kernel == nullptr || issued == 0)
        return {"fragment fill", How::exact, "no tensor-core instruction was executed"};
    if (!input.work || !input.work->matrix)
        return not_measured("fragment fill", "not measured: the task's useful products are not known");
    const double fill = input.work->flops / issued;
    return {
        "fragment fill", sampled ? How::modelled : How::exact,
        fmt::format("{:.3g} useful of {:.3g} issued tensor flops: fill {:.2f}{}", input.work->flops, issued,
                    fill, fill < 0.9 ? "; the rest is padding of ragged tiles or work done twice" : "")};
}

std::string limit_text(const Occupancy& o) {
    if (o.limiter == "warps") return "the block's size";
    if (o.limiter == "blocks") return "the blocks that an SM takes";
    return o.limiter == "shared" ? "shared memory" : o.limiter;
}

std::string in_flight_text(const KernelEstimate& e) {
    const double kept = e.bytes_in_flight / 1024, needed = e.bytes_needed / 1024;
    if (kept <= 0) return "no loads from global memory";
    return kept >= needed
               ? fmt::format("the loads in flight ({:.1f} KiB an SM) cover DRAM's latency ({:.1f} KiB)", kept,
                             needed)
               : fmt::format(
                     "the loads in flight ({:.1f} KiB an SM) are too few to cover DRAM's latency "
                     "({:.1f} KiB)",
                     kept, needed);
}

View occupancy_view(const KernelEstimate& e, const DeviceFacts& facts) {
    const Occupancy& o = e.occupancy;
    if (o.blocks_per_sm == 0)
        return {"occupancy", How::modelled, fmt::format("the kernel does not fit on an SM ({})", o.limiter)};
    return {"occupancy", How::modelled,
            fmt::format("{}: {} block{} of {} warp{} fit on an SM, {} of {} warps ({:.0f} %){}; {}", e.name,
                        o.blocks_per_sm, o.blocks_per_sm == 1 ? "" : "s", o.warps_per_block,
                        o.warps_per_block == 1 ? "" : "s", o.warps_per_sm, facts.max_warps_per_sm,
                        100 * o.fraction, o.fraction < 1 ? ", limited by " + limit_text(o) : "",
                        in_flight_text(e))};
}

View waves_view(const KernelEstimate& e, const DeviceFacts& facts) {
    const double waves = e.occupancy.waves;
    if (e.sms_used < 1)
        return {
            "waves", How::modelled,
            fmt::format("{}: {} block{} for {} SMs: {:.0f} % of the SMs get one", e.name, e.occupancy.blocks,
                        e.occupancy.blocks == 1 ? "" : "s", facts.sm_count, 100 * e.sms_used)};
    if (waves <= 1)
        return {"waves", How::modelled,
                fmt::format("{}: {:.2f} waves: all blocks are resident at once", e.name, waves)};
    const double use = ratio(waves, std::ceil(waves));
    return {
        "waves", How::modelled,
        fmt::format("{}: {:.2f} waves, the last {:.0f} % full; the SMs' slots are used to {:.0f} %", e.name,
                    waves, 100 * (waves > std::floor(waves) ? waves - std::floor(waves) : 1), 100 * use)};
}

View memory_view(const ExecutedKernel& k, const KernelEstimate& e) {
    const auto& c = k.counters;
    if (c.global_load_requests + c.global_store_requests == 0)
        return {"memory", How::exact, k.name + ": no global memory is touched"};
    const auto access = [](const char* what, double sectors, double requests, double ideal) {
        return requests == 0 ? fmt::format("no {}s", what)
                             : fmt::format("{:.1f} sectors per {} (ideal {:.1f})", sectors / requests, what,
                                           ideal / requests);
    };
    const double wavefronts = double(c.shared_load_wavefronts + c.shared_store_wavefronts);
    const double conflicts = double(c.shared_load_conflicts + c.shared_store_conflicts);
    std::string shared = wavefronts == 0  ? "no shared memory"
                         : conflicts == 0 ? "no bank conflicts"
                                          : fmt::format("{:.0f} % of shared wavefronts are bank conflicts",
                                                        100 * conflicts / wavefronts);
    return {"memory", k.sampled() ? How::modelled : How::exact,
            fmt::format("{}: {}, {}; each distinct sector loaded {:.1f} times; {}; DRAM traffic {:.3g} MB "
                        "(modelled)",
                        k.name,
                        access("load", double(c.global_load_sectors), double(c.global_load_requests),
                               double(c.ideal_global_load_sectors)),
                        access("store", double(c.global_store_sectors), double(c.global_store_requests),
                               double(c.ideal_global_store_sectors)),
                        ratio(double(c.global_load_sectors), double(c.unique_load_sectors)), shared,
                        e.traffic.dram_bytes / 1e6)};
}

View mix_view(const ExecutedKernel& k) {
    const auto& c = k.counters;
    if (c.warp_instructions == 0) return {"mix", How::exact, k.name + ": no instruction was executed"};
    std::vector<std::pair<double, const char*>> parts{
        {double(c.inst_fma), "fma"},      {double(c.inst_alu), "integer and logic"},
        {double(c.inst_xu), "special"},   {double(c.inst_fp64), "double"},
        {double(c.inst_fp16), "half"},    {double(c.inst_tensor), "tensor"},
        {double(c.inst_lsu), "memory"},   {double(c.inst_control), "control"},
        {double(c.inst_uniform), "moves"}};
    std::stable_sort(parts.begin(), parts.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text;
    for (std::size_t i = 0; i < 4 && parts[i].first > 0; ++i)
        text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", parts[i].second,
                            100 * parts[i].first / double(c.warp_instructions));
    return {"mix", k.sampled() ? How::modelled : How::exact,
            fmt::format("{}: {:.3g} warp instructions ({}), {:.1f} of 32 lanes active", k.name,
                        double(c.warp_instructions), text,
                        double(c.thread_instructions) / double(c.warp_instructions))};
}

}  // namespace

std::vector<View> make_views(const ProfileInput& input, const Estimate& estimate,
                             const std::optional<Roofline>& roofline, const DeviceFacts& facts) {
    // Per-kernel views speak of the kernel that takes longest.
    const ExecutedKernel* kernel = nullptr;
    const KernelEstimate* longest = nullptr;
    for (std::size_t i = 0; i < estimate.kernels.size() && i < input.kernels.size(); ++i)
        if (longest == nullptr || estimate.kernels[i].us > longest->us) {
            longest = &estimate.kernels[i];
            kernel = &input.kernels[i];
        }
    const char* nothing = "not measured: nothing was launched";
    std::vector<View> views;
    views.push_back(roofline_view(estimate, roofline));
    views.push_back(fill_view(input, kernel));
    views.push_back(longest ? occupancy_view(*longest, facts) : not_measured("occupancy", nothing));
    views.push_back(not_measured("stalls", "not measured: only a GPU's warp sampling shows stall reasons"));
    views.push_back(longest ? waves_view(*longest, facts) : not_measured("waves", nothing));
    views.push_back(longest ? memory_view(*kernel, *longest) : not_measured("memory", nothing));
    views.push_back(longest ? mix_view(*kernel) : not_measured("mix", nothing));
    views.push_back(
        not_measured("selection", "not measured: only a GPU's activity record shows what was dispatched"));
    return views;
}

}  // namespace kernelwright
