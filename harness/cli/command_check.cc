#include <fmt/color.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "harness/cli/commands.h"
#include "harness/cli/interrupt.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/report/status.h"
#include "verifiers/gate/gate.h"

namespace kernelwright::cli {
namespace {

// ", tune shapes: 2 verified, 1 run but not verified": the notes say why.
std::string tune_text(const CheckReport& report) {
    if (report.tune.empty()) return {};
    const auto verified = std::count_if(report.tune.begin(), report.tune.end(),
                                        [](const TuneRun& run) { return run.verified; });
    const auto not_verified = static_cast<std::ptrdiff_t>(report.tune.size()) - verified;
    std::string out = fmt::format(", tune shapes: {} verified", verified);
    if (not_verified > 0) out += fmt::format(", {} run but not verified", not_verified);
    return out;
}

void print_report(const Global& global, const CheckReport& report, std::chrono::duration<double> time) {
    // A plan that cannot be read says no target.
    fmt::print("{}  {}  {}{}{}\n", report.task, report.candidate, report.device,
               report.target.empty() ? "" : " ", report.target);
    print_diagnostics(report);
    if (report.pass) {
        fmt::print("PASS: {} shapes, {} cases{}, {:.1f} s\n", report.shapes_checked, report.cases_checked,
                   tune_text(report), time.count());
    } else {
        fmt::print("FAIL at stage {} after {} shapes, {} cases, {:.1f} s\n",
                   report.stage ? to_string(*report.stage) : "-", report.shapes_checked, report.cases_checked,
                   time.count());
        print_again(global, report);
    }
}

}  // namespace

void print_again(const Global& global, const CheckReport& report) {
    fmt::print("again: {}\n", runnable(global, report.replay));
}

void print_diagnostics(const CheckReport& report) {
    for (const Diagnostic& d : report.diagnostics) {
        fmt::print("{}\n", printable(to_line(d)));
        if (!d.shape.empty()) {
            std::string at;
            for (const auto& [name, value] : d.shape)
                at += fmt::format("{}{}={}", at.empty() ? "" : ",", name, value);
            std::string where = "    at " + at;
            if (!d.case_name.empty()) where += ", case " + d.case_name;
            if (d.seed) where += fmt::format(", seed {}", *d.seed);
            if (d.block)
                where += fmt::format(", block {},{},{}", (*d.block)[0], (*d.block)[1], (*d.block)[2]);
            if (d.thread)
                where += fmt::format(" thread {},{},{}", (*d.thread)[0], (*d.thread)[1], (*d.thread)[2]);
            fmt::print("{}\n", where);
        }
    }
}

std::optional<Exit> no_verdict(const Global& global, const CheckReport& report) {
    if (report.page_fault) return fail(global, Exit::usage, *report.page_fault);
    if (report.environment) return fail(global, Exit::missing, *report.environment);
    if (report.interrupted) return fail(global, Exit::interrupted, Error{"interrupted"});
    return std::nullopt;
}

Exit run_check(const Global& global, const CheckCall& call) {
    const auto start = std::chrono::steady_clock::now();
    auto bench = make_workbench(call.bench);
    if (!bench) return fail(global, bench.error().exit, bench.error().error);
    const auto task = bench->task(call.task);
    if (!task) return fail(global, task.error().exit, task.error().error);
    GateOptions options;
    options.target = call.bench.target;
    const char* const seed_end = call.seed.data() + call.seed.size();
    if (const auto [end, ec] = std::from_chars(call.seed.data(), seed_end, options.seed);
        ec != std::errc() || end != seed_end) {
        return fail(global, Exit::usage,
                    Error{fmt::format("--seed {}: it is an integer from 0 to 2^64 - 1", call.seed)});
    }
    if (!call.shape.empty()) {
        auto shape = parse_shape(*task, call.shape);
        if (!shape) {
            Error error = shape.error();
            error.message = "--shape: " + error.message;
            return fail(global, Exit::usage, error);
        }
        options.shape = *shape;
    }
    if (!call.case_name.empty()) {
        if (const Status known = known_case(*task, call.case_name); !known)
            return fail(global, Exit::usage, known.error());
        options.case_name = call.case_name;
    }
    const auto source = load_candidate(call.candidate);
    if (!source) return fail(global, Exit::usage, source.error());
    auto expectations = bench->expectations(*task);
    if (!expectations) return fail(global, expectations.error().exit, expectations.error().error);

    const InterruptGuard interrupt;
    options.stop = interrupt.token();
    report::StatusPrinter status(stderr, report::detect_style(stderr));
    options.progress = [&](const std::string& line) { status.step(line); };
    const GateParts parts{*bench->compiler, *bench->device, **expectations, bench->targets};
    const CheckReport report = check(*task, *source, call.candidate, parts, options);
    status.clear();
    if (const auto exit = no_verdict(global, report)) return *exit;
    if (global.json) {
        print_json(to_json(report));
    } else {
        print_report(global, report, std::chrono::steady_clock::now() - start);
    }
    return report.pass ? Exit::good : Exit::verdict;
}

}  // namespace kernelwright::cli
