#include <fmt/format.h>

#include <algorithm>

#include "harness/profile/profile.h"

namespace kernelwright {
namespace {

std::string place(const std::string& file, int line) {
    return file.empty() ? fmt::format("line {}", line) : fmt::format("{}:{}", file, line);
}

std::string duration(double us) {
    return us >= 10'000 ? fmt::format("{:.1f} ms", us / 1000) : fmt::format("{:.1f} us", us);
}

// The counters worth a line; what a figure means is in its name and unit.
const char* const shown[] = {
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "kernelwright__distinct_load_sectors.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "smsp__inst_executed_pipe_fma.sum",
    "smsp__inst_executed_pipe_alu.sum",
    "smsp__inst_executed_pipe_xu.sum",
    "smsp__inst_executed_pipe_fp64.sum",
    "smsp__inst_executed_pipe_tensor.sum",
    "smsp__inst_executed_pipe_lsu.sum",
    "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
    "smsp__sass_branch_targets_threads_divergent.sum",
    "sm__ctas_launched.sum",
};

std::string lines_text(const std::vector<LineShare>& lines) {
    std::string text;
    for (const LineShare& l : lines)
        text +=
            fmt::format("{}{} ({:.0f} %)", text.empty() ? "" : ", ", place(l.file, l.line), 100 * l.share);
    return text;
}

}  // namespace

std::string counters_text(const Profile& profile) {
    std::string text;
    for (const KernelProfile& k : profile.kernels) {
        text += fmt::format("  {} ({})\n", k.name,
                            k.counted_blocks < k.blocks
                                ? fmt::format("{} of {} blocks counted, scaled", k.counted_blocks, k.blocks)
                                : fmt::format("all {} blocks counted", k.blocks));
        for (const char* name : shown)
            for (const CounterValue& c : k.counters)
                if (c.name == name && c.value != 0)
                    text += fmt::format("    {:<72} {:>14.6g} {:<8} {}\n", c.name, c.value, c.unit,
                                        to_string(c.how));
    }
    return text;
}

std::string to_text(const Profile& p, const TextOptions& options) {
    std::string shape;
    for (const auto& [name, value] : p.shape)
        shape += fmt::format("{}{}={}", shape.empty() ? "" : ", ", name, value);
    std::string text = fmt::format("{}{} on {} ({})\n", p.task.empty() ? "candidate" : p.task,
                                   shape.empty() ? "" : " at " + shape, p.device_title, p.target);
    text += fmt::format("time {} {} ({} .. {}, +-{:.0f} % uncalibrated)", to_string(p.time_how),
                        duration(p.estimate.us), duration(p.estimate.low_us), duration(p.estimate.high_us),
                        100 * uncalibrated_uncertainty);
    if (p.roofline)
        text += fmt::format("; roofline {} ({} bound), so {:.0f} % of it is reached",
                            duration(p.roofline->bound_us), p.roofline->bound, 100 * p.roofline_fraction());
    text += "\n\n";
    for (std::size_t i = 0; i < p.kernels.size() && i < p.estimate.kernels.size(); ++i) {
        const KernelProfile& k = p.kernels[i];
        const KernelEstimate& e = p.estimate.kernels[i];
        text += fmt::format("kernel {}: grid {}x{}x{}, block {}x{}x{}, {} registers, {} + {} bytes shared\n",
                            k.name, k.grid[0], k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2],
                            k.resources.registers, k.resources.static_shared, k.dynamic_shared);
        text += fmt::format("  modelled {} and {} to launch; bound: {} ({})\n", duration(e.us),
                            duration(e.launch_us), e.bound, slack_text(e));
    }
    text += "\nWhat costs time\n";
    if (p.findings.empty())
        text += "  nothing stands out: the counters show no cause whose removal would gain 3 %\n";
    for (std::size_t i = 0; i < p.findings.size() && i < options.findings; ++i) {
        const Finding& f = p.findings[i];
        text += fmt::format("  {}. {}{}\n     gain about {:.2f}x (modelled); {} = {:.6g}", i + 1,
                            f.kernel.empty() || p.kernels.size() < 2 ? "" : f.kernel + ": ", f.message,
                            f.gain, f.counter, f.value);
        if (!f.lines.empty()) text += "; " + lines_text(f.lines);
        text += "\n";
    }
    if (options.lines > 0)
        for (const KernelProfile& k : p.kernels) {
            if (k.lines.empty()) continue;
            text += fmt::format("\nHot lines of {}\n", k.name);
            for (std::size_t i = 0; i < k.lines.size() && i < options.lines; ++i) {
                const HotLine& l = k.lines[i];
                text += fmt::format("  {:<28} {:>3.0f} % of instructions", place(l.file, l.line),
                                    100 * l.instructions);
                if (l.sectors > 0)
                    text += fmt::format(", {:.0f} % of global sectors ({:.1f} per request)", 100 * l.sectors,
                                        l.sectors_per_request);
                if (l.shared_conflicts > 0)
                    text += fmt::format(", {:.0f} bank conflicts", l.shared_conflicts);
                text += "\n";
            }
        }
    if (options.views) {
        text += "\nViews\n";
        for (const View& v : p.views)
            text += fmt::format("  {:<14} {}{}\n", v.name, v.verdict,
                                v.how ? fmt::format(" [{}]", to_string(*v.how)) : "");
    }
    if (options.counters) text += "\nCounters\n" + counters_text(p);
    return text;
}

}  // namespace kernelwright
