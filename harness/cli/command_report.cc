#include <fmt/format.h>

#include "harness/cli/commands.h"
#include "harness/core/clock.h"
#include "harness/core/files.h"
#include "harness/report/report.h"
#include "harness/store/store.h"

namespace kernelwright::cli {

Exit run_report(const Global& global, const ReportCall& call) {
    const SystemClock clock;
    const RunPlace place = run_place(call.run, call.results);
    const record::Store store(place.results, clock);
    const auto id = store.resolve(place.run);
    if (!id) return fail(global, Exit::usage, id.error());
    const auto run = store.load(*id);
    if (!run) return fail(global, Exit::usage, run.error());
    if (run->attempts.empty()) {
        // The last run that has any, for whoever asked for `last` and got one that never came to an answer.
        std::string other;
        for (const std::string& candidate : store.ids()) {
            if (const auto earlier = store.load(candidate); earlier && !earlier->attempts.empty())
                other = candidate;
        }
        fmt::print(stderr, "kernelwright: run {} holds no attempt ({}{}){}\n", *id,
                   run->why.empty() ? run->state : run->why, run->reason.empty() ? "" : ": " + run->reason,
                   other.empty() ? "" : "; the last run that holds any is " + other);
    }
    const auto artifacts = [&](const std::string& hash) { return store.artifact(*id, hash); };
    if (!call.html.empty()) {
        const Status written = write_file_atomic(call.html, report::html_report(*run, artifacts));
        if (!written) return fail(global, Exit::usage, written.error());
        if (!global.json) fmt::print("wrote {}\n", call.html);
    }
    if (global.json) {
        print_json(record::to_json(*run));
    } else if (call.html.empty()) {
        fmt::print("{}", report::markdown_report(*run, artifacts));
    }
    return Exit::good;
}

}  // namespace kernelwright::cli
