#include <fmt/format.h>

#include <algorithm>

#include "harness/profile/profile.h"

namespace kernelwright {
namespace {

std::string place(const std::string& file, int line) {
    return file.empty() ? fmt::format("line {}", line) : fmt::format("{}:{}", file, line);
}

std::string duration(double us) {
    return us >= 10'000 ? fmt::format("{:.1f} ms", us / 1000)
           : us >= 10   ? fmt::format("{:.1f} us", us)
           : us >= 0.1  ? fmt::format("{:.2f} us", us)
                        : fmt::format("{:.2g} ns", 1000 * us);
}

// Text in lines of at most 110 characters, all but the first indented.
std::string wrapped(const std::string& text, std::size_t indent) {
    constexpr std::size_t width = 110;
    std::string out;
    std::size_t column = indent;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::size_t length = end - at;
        if (column > indent && column + 1 + length > width) {
            out += "\n" + std::string(indent, ' ');
            column = indent;
        } else if (column > indent) {
            out += ' ';
            ++column;
        }
        out.append(text, at, length);
        column += length;
        at = end + 1;
    }
    return out;
}

// The counters worth a line; what a figure means is in its name and unit. The rest is in the JSON form.
const char* const shown[] = {
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "smsp__inst_executed_pipe_tensor.sum",
    "smsp__inst_executed_pipe_xu.sum",
    "smsp__inst_executed_pipe_fp64.sum",
    "smsp__sass_branch_targets_threads_divergent.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "kernelwright__distinct_load_sectors.sum",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "kernelwright__atomic_operations.sum",
    "kernelwright__hottest_atomic_operations.max",
    "kernelwright__shared_atomic_wavefronts.sum",
    "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
    "dram__bytes.sum",
};

std::string lines_text(const std::vector<LineShare>& lines) {
    std::string text;
    for (const LineShare& l : lines)
        text +=
            fmt::format("{}{} ({:.0f} %)", text.empty() ? "" : ", ", place(l.file, l.line), 100 * l.share);
    return text;
}

std::string counted_text(const KernelProfile& k) {
    return k.counted_blocks < k.blocks
               ? fmt::format("{} of {} blocks counted, sums scaled to the grid", k.counted_blocks, k.blocks)
               : fmt::format("all {} block{} counted", k.blocks, k.blocks == 1 ? "" : "s");
}

std::string top_text(const Profile& p) {
    std::string shape;
    for (const auto& [name, value] : p.shape)
        shape += fmt::format("{}{}={}", shape.empty() ? "" : ", ", name, value);
    std::string text = fmt::format("{}{} on {} ({})\n", p.task.empty() ? "candidate" : p.task,
                                   shape.empty() ? "" : " at " + shape, p.device_title, p.target);
    text +=
        fmt::format("{} ({}, {} .. {}: +-{:.0f} %, uncalibrated), bound by {}", duration(p.estimate.us),
                    to_string(p.time_how), duration(p.estimate.low_us), duration(p.estimate.high_us),
                    100 * uncalibrated_uncertainty, p.estimate.bound.empty() ? "nothing" : p.estimate.bound);
    if (p.roofline)
        text += fmt::format("; {} of the roofline ({}, {} against {})",
                            percent_text(100 * p.roofline_fraction()), duration(p.roofline->bound_us),
                            p.roofline->bound, p.roofline->bound == "memory" ? "DRAM" : p.roofline->peak);
    return text + "\n";
}

std::string kernel_text(const KernelProfile& k, const KernelEstimate& e) {
    std::string text =
        fmt::format("\nkernel {}: grid {}x{}x{}, block {}x{}x{}, {} registers", k.name, k.grid[0], k.grid[1],
                    k.grid[2], k.block[0], k.block[1], k.block[2], k.resources.registers);
    const std::uint64_t shared = std::uint64_t{k.resources.static_shared} + k.dynamic_shared;
    if (shared > 0) text += fmt::format(", {} bytes of shared memory", shared);
    if (k.resources.spill_store_bytes + k.resources.spill_load_bytes > 0)
        text += fmt::format(", {} bytes spilled", k.resources.spill_store_bytes);
    text += fmt::format("\n  {} and {} to launch (modelled)", duration(e.us), duration(e.launch_us));
    if (!e.times.empty()) text += fmt::format("; {} 1.00, {}", e.times[0].name, slack_text(e));
    return text + "\n";
}

std::string finding_text(const Profile& p, const Finding& f, std::size_t number) {
    std::string evidence = fmt::format("{} = {:.6g}", f.counter, f.value);
    const std::string lines = lines_text(f.lines);
    return fmt::format(
        "  {}. {:.2f}x  {}\n            {}\n", number, f.gain,
        wrapped((f.kernel.empty() || p.kernels.size() < 2 ? "" : f.kernel + ": ") + f.message, 12),
        (lines.empty() ? "" : lines + "; ") + evidence);
}

std::string hot_text(const KernelProfile& k, std::size_t most) {
    std::string text = fmt::format("\nHot lines of {}\n", k.name);
    for (std::size_t i = 0; i < k.lines.size() && i < most; ++i) {
        const HotLine& l = k.lines[i];
        if (std::max(l.instructions, l.sectors) < 0.005) break;  // hottest first: the rest is no hotter
        text +=
            fmt::format("  {:<28} {:>3.0f} % of instructions", place(l.file, l.line), 100 * l.instructions);
        if (l.sectors > 0)
            text += fmt::format(", {:.0f} % of global sectors ({:.1f} per request)", 100 * l.sectors,
                                l.sectors_per_request);
        if (l.shared_conflicts > 0) text += fmt::format(", {:.6g} bank conflicts", l.shared_conflicts);
        text += "\n";
    }
    return text;
}

std::string counters_of(const KernelProfile& k) {
    std::string text;
    for (const char* name : shown)
        for (const CounterValue& c : k.counters)
            if (c.name == name && c.value != 0)
                text +=
                    fmt::format("  {:<70} {:>12.6g} {:<9} {}\n", c.name, c.value, c.unit, to_string(c.how));
    return text;
}

}  // namespace

std::string percent_text(double percent) {
    return percent < 0.5 ? "under 1 %" : fmt::format("{:.0f} %", percent);
}

std::string to_text(const Profile& p, const TextOptions& options) {
    std::string text = top_text(p);
    for (std::size_t i = 0; i < p.kernels.size() && i < p.estimate.kernels.size(); ++i)
        text += kernel_text(p.kernels[i], p.estimate.kernels[i]);
    text += "\nWhat costs time (the gain of removing it, modelled)\n";
    if (p.findings.empty())
        text += "  nothing stands out: the counters show no cause whose removal would gain 3 %\n";
    for (std::size_t i = 0; i < p.findings.size() && i < options.findings; ++i)
        text += finding_text(p, p.findings[i], i + 1);
    if (p.findings.size() > options.findings)
        text += fmt::format("  and {} more of at most {:.2f}x\n", p.findings.size() - options.findings,
                            p.findings[options.findings].gain);
    // The rest is about the kernel that takes longest.
    const KernelProfile* longest = p.longest();
    if (options.lines > 0 && longest != nullptr && !longest->lines.empty())
        text += hot_text(*longest, options.lines);
    if (options.views) {
        text += "\nViews\n";
        // The roofline is in the first lines; what was not measured says so in the JSON form.
        const bool tensor = p.metric("smsp__inst_executed_pipe_tensor.sum").value_or(0) > 0;
        for (const View& v : p.views)
            if (v.how && v.name != "roofline" && (v.name != "fragment fill" || tensor))
                text += fmt::format("  {:<14}{} [{}]\n", v.name, wrapped(v.verdict, 16), to_string(*v.how));
    }
    if (options.counters && longest != nullptr)
        text += fmt::format("\nCounters of {} ({})\n{}", longest->name, counted_text(*longest),
                            counters_of(*longest));
    return text;
}

}  // namespace kernelwright
