#include <fmt/format.h>

#include <algorithm>

#include "harness/cli/commands.h"
#include "harness/core/clock.h"
#include "harness/core/files.h"
#include "harness/report/report.h"
#include "harness/store/store.h"

namespace kernelwright::cli {
namespace {

constexpr std::size_t runs_listed = 20;

// The recent runs, the last one first.
Exit list_runs(const Global& global, const record::Store& store) {
    std::vector<std::string> ids = store.ids();
    if (ids.empty()) return fail(global, Exit::usage, store.resolve("last").error());
    std::reverse(ids.begin(), ids.end());
    const std::size_t all = ids.size();
    if (ids.size() > runs_listed) ids.resize(runs_listed);
    std::vector<record::Run> runs;
    for (const std::string& id : ids) {
        auto run = store.load(id);
        if (run)
            runs.push_back(std::move(*run));
        else
            fmt::print(stderr, "kernelwright: {}\n", run.error().str());
    }
    if (global.json) {
        Json list = Json::array();
        for (const record::Run& run : runs) {
            const record::Attempt* best = run.best();
            list.push_back({{"run", run.id},
                            {"task", run.task},
                            {"state", run.state},
                            {"why", run.why},
                            {"started", run.started},
                            {"attempts", run.attempts.size()},
                            {"best", best == nullptr ? Json(nullptr) : Json(best->number)}});
        }
        print_json({{"schema", "kernelwright.runs/1"}, {"runs", std::move(list)}});
        return Exit::good;
    }
    fmt::print("{}", report::plain_table(report::runs_table(runs)));
    if (all > ids.size()) fmt::print("and {} older\n", all - ids.size());
    fmt::print("\none of them: {} (`last` is the first of these)\n",
               runnable(global, "kernelwright report last"));
    return Exit::good;
}

// "; the last run that holds any is ID": for whoever asked for `last` and got one that never came to an
// answer.
std::string last_with_attempts(const record::Store& store) {
    std::vector<std::string> ids = store.ids();
    for (auto id = ids.rbegin(); id != ids.rend(); ++id)
        if (const auto run = store.load(*id); run && !run->attempts.empty())
            return "the last run that holds an attempt is " + *id;
    return {};
}

Status write_report(const Global& global, const std::string& file, const std::string& text) {
    if (file.empty()) return Done{};
    if (Status written = write_file_atomic(file, text); !written) return written;
    if (!global.json) fmt::print("wrote {}\n", file);
    return Done{};
}

}  // namespace

Exit run_report(const Global& global, const ReportCall& call) {
    const SystemClock clock;
    const RunPlace place = run_place(call.run, call.results);
    const record::Store store(place.results, clock);
    if (call.run.empty()) {
        if (!call.html.empty() || !call.markdown.empty())
            return fail(global, Exit::usage,
                        Error{"which run? " + runnable(global, "kernelwright report last --html FILE")});
        return list_runs(global, store);
    }
    const auto id = store.resolve(place.run);
    if (!id) return fail(global, Exit::usage, id.error());
    const auto run = store.load(*id);
    if (!run) return fail(global, Exit::usage, run.error());
    const auto artifacts = [&](const std::string& hash) { return store.artifact(*id, hash); };
    if (!call.html.empty())
        if (Status s = write_report(global, call.html, report::html_report(*run, artifacts)); !s)
            return fail(global, Exit::usage, s.error());
    if (!call.markdown.empty())
        if (Status s = write_report(global, call.markdown, report::markdown_report(*run, artifacts)); !s)
            return fail(global, Exit::usage, s.error());
    if (global.json) {
        print_json(record::to_json(*run));
    } else if (call.html.empty() && call.markdown.empty()) {
        fmt::print("{}", report::plain_report(*run, artifacts));
        if (!run->attempts.empty())
            fmt::print("\nsources, changes and requests of each attempt: {}\n",
                       runnable(global, fmt::format("kernelwright report {} --html FILE", *id)));
    }
    if (run->attempts.empty())
        if (const std::string other = last_with_attempts(store); !other.empty())
            fmt::print(stderr, "kernelwright: {}\n", other);
    return Exit::good;
}

}  // namespace kernelwright::cli
