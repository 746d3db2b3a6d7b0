#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "harness/cli/commands.h"
#include "harness/core/text.h"
#include "verifiers/gate/gate.h"
#include "verifiers/numerics/draws.h"

namespace kernelwright::cli {
namespace fs = std::filesystem;
namespace {

std::string dtypes_of(const std::vector<TensorSpec>& list) {
    std::vector<std::string> out;
    for (const TensorSpec& spec : list) out.emplace_back(to_string(spec.dtype));
    return fmt::format("{}", fmt::join(out, " "));
}

// A page is sound when it parses, its op takes its operands, and inputs and a reference can be had on the
// smallest check shape for every draw.
Status check_page(const Workbench& bench, const Task& task, std::string& warning) {
    auto expectations = make_expectations(task, *bench.compiler, *bench.device);
    if (!expectations) return expectations.error();
    warning = (*expectations)->warning();
    const auto size = [&](const SymbolValues& symbols) {
        std::int64_t total = 0;
        for (const TensorSpec& spec : task.inputs) {
            const auto shape = spec.shape_at(symbols);
            if (shape) total += element_count(*shape);
        }
        return total;
    };
    const auto smallest = std::min_element(task.check_shapes.begin(), task.check_shapes.end(),
                                           [&](const auto& a, const auto& b) { return size(a) < size(b); });
    if (smallest == task.check_shapes.end()) return Error{"the page has no check shapes", task.file};
    for (const std::string& name : cases_for(task)) {
        const auto expectation = (*expectations)->get(*smallest, name, 1);
        if (!expectation) return expectation.error();
    }
    return Done{};
}

// The pages as they are written.
Exit show(const Global& global, const std::vector<std::string>& pages) {
    if (pages.empty())
        return fail(
            global, Exit::usage,
            Error{
                "tasks show: which one?", {}, 0, 0, runnable(global, "kernelwright tasks") + " names them"});
    Json list = Json::array();
    for (const std::string& given : pages) {
        const auto task = load_named_task(given);
        if (!task) return fail(global, Exit::usage, task.error());
        list.push_back({{"name", task->name}, {"file", task->file}, {"page", task->source}});
        if (!global.json) fmt::print("{}{}", task->source, task->source.ends_with('\n') ? "" : "\n");
    }
    if (global.json) print_json({{"schema", "kernelwright.tasks/1"}, {"tasks", std::move(list)}});
    return Exit::good;
}

}  // namespace

Exit run_tasks(const Global& global, const TasksCall& call) {
    if (call.action == "show") return show(global, call.pages);
    if (call.action != "list" && call.action != "check") {
        return fail(global, Exit::usage,
                    Error{fmt::format("tasks {}: it is list, show or check", call.action)});
    }
    std::vector<TaskEntry> entries;
    for (const std::string& given : call.pages) {
        const fs::path page = resolve_task(given);
        entries.push_back({page.stem().string(), page, load_named_task(given)});
    }
    if (entries.empty()) {
        const auto data = data_folder();
        if (!data) return fail(global, Exit::missing, data.error());
        auto library = task_library(*data / "tasks");
        if (!library) return fail(global, Exit::missing, library.error());
        entries = std::move(*library);
        if (entries.empty())
            return fail(global, Exit::missing, Error{"no task pages", (*data / "tasks").string()});
    }
    const bool checking = call.action == "check";
    auto bench = make_workbench({});
    if (checking && !bench) return fail(global, bench.error().exit, bench.error().error);
    Json list = Json::array();
    bool sound = true;
    for (const auto& [name, page, task] : entries) {
        Status status = Done{};
        if (!task) status = task.error();
        if (status.ok()) status = validate_task(*task);
        std::string warning;
        if (status.ok() && checking) status = check_page(*bench, *task, warning);
        Json entry;
        entry["name"] = task ? task->name : name;
        entry["file"] = page.string();
        if (task) {
            entry["summary"] = task->summary;
            entry["op"] = task->op;
            entry["inputs"] = dtypes_of(task->inputs);
            entry["outputs"] = dtypes_of(task->outputs);
            entry["check_shapes"] = task->check_shapes.size();
            entry["tune_shapes"] = task->tune_shapes.size();
        }
        entry["sound"] = status.ok();
        if (!warning.empty()) entry["warning"] = warning;
        if (!status) {
            sound = false;
            entry["error"] = status.error().str();
        }
        if (!global.json) {
            if (!status) {
                fmt::print(stderr, "kernelwright: {}\n", printable(status.error().str()));
            } else if (checking) {
                fmt::print("{}: sound, {} check shapes, draws: {}\n", task->name, task->check_shapes.size(),
                           fmt::join(cases_for(*task), " "));
                if (!warning.empty())
                    fmt::print(stderr, "kernelwright: {}: warning: {}\n", task->file, printable(warning));
            } else {
                fmt::print("{:<22} {:<18} {:<22} {}\n", task->name,
                           task->op.empty() ? "(own reference)" : task->op, dtypes_of(task->inputs),
                           task->summary);
            }
        }
        list.push_back(std::move(entry));
    }
    if (global.json) print_json({{"schema", "kernelwright.tasks/1"}, {"tasks", std::move(list)}});
    return sound ? Exit::good : Exit::usage;
}

}  // namespace kernelwright::cli
