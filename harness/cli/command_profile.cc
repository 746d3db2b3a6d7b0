#include <fmt/format.h>

#include "harness/cli/commands.h"
#include "harness/cli/interrupt.h"
#include "harness/core/files.h"
#include "harness/report/status.h"
#include "harness/search/evaluator.h"
#include "verifiers/gate/gate.h"

namespace kernelwright::cli {

Exit run_profile(const Global& global, const ProfileCall& call) {
    if (!call.html.empty())
        return fail(global, Exit::missing, Error{"profile --html is not built yet", {}, 0, 0, "use --json"});
    auto bench = make_workbench(call.bench);
    if (!bench) return fail(global, bench.error().exit, bench.error().error);
    const auto task = bench->task(call.task);
    if (!task) return fail(global, task.error().exit, task.error().error);
    const auto source = load_candidate(call.candidate);
    if (!source) return fail(global, Exit::usage, source.error());
    auto expectations = bench->expectations(*task);
    if (!expectations) return fail(global, expectations.error().exit, expectations.error().error);

    const InterruptGuard interrupt;
    report::StatusPrinter status(stderr, report::detect_style(stderr));
    GateOptions options;
    options.target = call.bench.target;
    options.stop = interrupt.token();
    options.progress = [&](const std::string& line) { status.step(line); };
    const GateParts parts{*bench->compiler, *bench->device, **expectations, bench->targets};
    const CheckReport report = check(*task, *source, call.candidate, parts, options);
    status.clear();
    if (const auto exit = no_verdict(global, report)) return *exit;
    if (!report.pass) {
        if (global.json) {
            print_json(to_json(report));
        } else {
            print_diagnostics(report);
            fmt::print("not profiled: the candidate fails at stage {}\n",
                       report.stage ? to_string(*report.stage) : "-");
            print_again(global, report);
        }
        return Exit::verdict;
    }
    const std::vector<Profile> profiles = search::profiles_of(*task, report, bench->targets);
    if (global.json) {
        Json list = Json::array();
        for (const Profile& profile : profiles) list.push_back(to_json(profile));
        print_json({{"schema", "kernelwright.profiles/1"},
                    {"candidate", call.candidate},
                    {"profiles", std::move(list)}});
    } else {
        for (const Profile& profile : profiles) fmt::print("{}\n", to_text(profile));
    }
    return Exit::good;
}

}  // namespace kernelwright::cli
