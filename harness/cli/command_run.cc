#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "harness/authors/factory.h"
#include "harness/authors/replay.h"
#include "harness/cli/commands.h"
#include "harness/cli/interrupt.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/report/report.h"
#include "harness/report/status.h"
#include "harness/search/evaluator.h"
#include "harness/search/loop.h"
#include "harness/search/skill_book.h"

namespace kernelwright::cli {
namespace fs = std::filesystem;
namespace {

class StatusProgress final : public search::Progress {
  public:
    StatusProgress() : printer_(stderr, report::detect_style(stderr)) {}
    void status(const std::string& line) override { printer_.status(line); }
    void message(const std::string& line) override { printer_.message(line); }
    void clear() { printer_.clear(); }

  private:
    report::StatusPrinter printer_;
};

search::DeviceSummary summary_of(const DeviceFacts& facts) {
    search::DeviceSummary out;
    out.name = facts.title + " (emulated)";
    out.target = facts.target;
    const auto add = [&](const char* name, std::string value) {
        out.facts.emplace_back(name, std::move(value));
    };
    add("SMs", fmt::format("{}", facts.sm_count));
    add("clock", fmt::format("{:.0f} MHz", facts.clock_mhz));
    add("DRAM bandwidth", fmt::format("{:.0f} GB/s", facts.dram_gb_per_s));
    add("L2", fmt::format("{:.0f} MiB", facts.l2_bytes / (1 << 20)));
    add("fp32 peak", fmt::format("{:.1f} TFLOP/s", facts.fp32_flops() * 1e-12));
    if (facts.tensor_flops(DType::f16) > 0)
        add("f16 tensor peak", fmt::format("{:.0f} TFLOP/s", facts.tensor_flops(DType::f16) * 1e-12));
    add("shared memory per SM", fmt::format("{} KiB", facts.shared_per_sm / 1024));
    add("shared memory per block",
        fmt::format("{} KiB, up to {} KiB by opting in", facts.shared_static_per_block / 1024,
                    facts.shared_optin_per_block / 1024));
    add("registers per SM", fmt::format("{}", facts.registers_per_sm));
    add("threads per block, at most", fmt::format("{}", facts.max_threads_per_block));
    add("warps per SM", fmt::format("{}", facts.max_warps_per_sm));
    return out;
}

// "evals=80": the limit that ended a run, doubled; what `run --resume` can be given to go on.
std::string raised(const std::string& exhausted, const record::Run& run) {
    const std::string key = exhausted == "requests" ? "evals" : exhausted;
    const auto limit = run.budget.find(key);
    if (limit == run.budget.end() || !limit->is_number()) return {};
    return fmt::format("{}={}", key, 2 * limit->get<double>());
}

// The recorded choices of a run that is resumed; what the call gives again wins.
void take_over(const record::Run& run, RunCall& call) {
    const auto text = [&](const char* key) {
        const auto it = run.config.find(key);
        return it != run.config.end() && it->is_string() ? it->get<std::string>() : std::string();
    };
    if (call.task.empty()) call.task = text("page");
    if (call.author.empty()) call.author = text("author");
    if (call.model.empty()) call.model = text("model");
    if (call.bench.target.empty()) call.bench.target = text("target_given");
}

}  // namespace

Exit run_search_command(const Global& global, const RunCall& given) {
    RunCall call = given;
    const bool resuming = !call.resume.empty();
    SystemClock clock;
    const RunPlace place = run_place(call.resume, call.results);
    record::Store store(resuming ? place.results : std::filesystem::path(call.results), clock);
    std::string id;
    if (resuming) {
        auto resolved = store.resolve(place.run);
        if (!resolved) return fail(global, Exit::usage, resolved.error());
        id = *resolved;
        const auto before = store.load(id);
        if (!before) return fail(global, Exit::usage, before.error());
        take_over(*before, call);
    }
    if (call.task.empty() && resuming) {
        return fail(
            global, Exit::usage,
            Error{fmt::format("run {} does not say which page it is about", id),
                  {},
                  0,
                  0,
                  "name it: " + runnable(global, fmt::format("kernelwright run TASK --resume {}", id))});
    }
    if (call.task.empty())
        return fail(global, Exit::usage,
                    Error{"which task? " + runnable(global, "kernelwright run softmax_rows")});
    if (call.author.empty()) call.author = "openai";

    auto bench = make_workbench(call.bench);
    if (!bench) return fail(global, bench.error().exit, bench.error().error);
    const auto task = bench->task(call.task);
    if (!task) return fail(global, task.error().exit, task.error().error);
    const auto facts = bench->targets.find(call.bench.target.empty() ? default_target : call.bench.target);
    if (!facts) return fail(global, Exit::usage, facts.error());

    search::SearchConfig config;
    // A new run has the default limits where the call gives none; a resumed one has those it was started
    // with.
    if (!resuming) config.budget = *parse_budgets(default_budget);
    if (!call.budget.empty()) {
        const auto given = parse_budgets(call.budget);
        if (!given) return fail(global, Exit::usage, given.error());
        config.budget = merged(config.budget, *given);
    }
    if (const char* price = std::getenv("KERNELWRIGHT_PRICE"); price != nullptr && *price != '\0') {
        auto parsed = parse_price(price);
        if (!parsed) return fail(global, Exit::usage, parsed.error());
        config.price = *parsed;
    }
    if (config.budget.usd && !config.price) {
        return fail(
            global, Exit::usage,
            Error{"a budget in usd needs a price",
                  {},
                  0,
                  0,
                  "set KERNELWRIGHT_PRICE=\"in=3,cached=0.3,out=15\" (US dollars per million tokens)"});
    }

    AuthorConfig author_config;
    author_config.model = call.model;
    auto author = make_author(call.author, author_config, clock);
    if (!author) return fail(global, static_cast<Exit>(author.error().exit_code), author.error().error);
    if (call.author.starts_with("replay:")) {
        const auto recording = read_recording(call.author.substr(7));
        if (recording && !recording->header.task.empty() && recording->header.task != task->name) {
            return fail(global, Exit::usage,
                        Error{fmt::format("the recorded conversation is about the task {}, not {}",
                                          recording->header.task, task->name),
                              call.author.substr(7)});
        }
    }
    if (!call.record.empty()) {
        ReplayHeader header;
        header.origin = "recorded from " + (*author)->describe();
        header.task = task->name;
        header.model = call.model;
        auto recorder = Recorder::open(std::move(*author), call.record, header, resuming);
        if (!recorder) return fail(global, Exit::usage, recorder.error());
        author = std::unique_ptr<Author>(std::move(*recorder));
    }
    auto expectations = bench->expectations(*task);
    if (!expectations) return fail(global, expectations.error().exit, expectations.error().error);

    auto writer = resuming ? store.open(id) : store.create(task->name);
    if (!writer) return fail(global, Exit::usage, writer.error());
    id = (*writer)->id();

    std::string index_note;
    auto index = record::Index::open_for(store, &index_note);
    const GateParts gate{*bench->compiler, *bench->device, **expectations, bench->targets};
    search::GateEvaluator evaluator(*task, gate, call.bench.target);
    search::RuleBook skills(load_skills(bench->data / "skills" / "rules"), store.root() / "evidence.jsonl",
                            *task, *facts, clock);
    const InterruptGuard interrupt;
    StatusProgress progress;
    if (!index) index_note = index.error().str();
    if (!index_note.empty()) progress.message("warning: " + index_note);
    for (const Error& broken : skills.broken_rules()) progress.message("skill left out: " + broken.str());
    progress.message(fmt::format("run {}: {} on {} ({}), author {}", id, task->name, bench->device->name(),
                                 facts->target, (*author)->describe()));

    config.facts = {{"author", call.author},
                    {"author_described", (*author)->describe()},
                    {"model", call.model},
                    {"page", fs::absolute(resolve_task(call.task)).lexically_normal().string()},
                    {"device", bench->device->name()},
                    {"device_facts", facts->name},
                    {"target", facts->target},
                    {"target_given", call.bench.target}};
    search::SearchParts parts;
    parts.task = &*task;
    parts.device = summary_of(*facts);
    parts.author = author->get();
    parts.evaluator = &evaluator;
    parts.skills = &skills;
    parts.run = writer->get();
    parts.index = index ? &*index : nullptr;
    parts.progress = &progress;
    parts.clock = &clock;
    parts.stop = interrupt.token();
    const search::SearchOutcome outcome = search::run_search(parts, config);
    progress.clear();

    // The loop keeps the winner as a file of its own, beside the record.
    const std::string winner =
        outcome.run.best() != nullptr ? ((*writer)->folder() / "winner.cu").string() : std::string();
    if (!outcome.error.message.empty())
        fmt::print(stderr, "kernelwright: {}\n", printable(outcome.error.str()));
    std::string next;
    const std::string results =
        store.root() == RunCall{}.results ? "" : " --results " + shell_word(store.root().string());
    if (outcome.exit_code == 130 || outcome.why == "author failed" || outcome.why == "missing") {
        next = fmt::format("kernelwright run --resume {}{}", id, results);
    } else if (!winner.empty()) {
        next = fmt::format("kernelwright profile {} {}{}", shell_word(call.task), shell_word(winner),
                           call.bench.target.empty() ? "" : " --target " + shell_word(call.bench.target));
    } else {
        next = fmt::format("kernelwright report {}{}", id, results);
    }
    std::vector<std::string> commands{runnable(global, next)};
    if (const std::string more = raised(outcome.exhausted, outcome.run); !more.empty())
        commands.push_back(
            runnable(global, fmt::format("kernelwright run --resume {} --budget {}{}", id, more, results)));
    if (global.json) {
        Json out;
        out["schema"] = "kernelwright.outcome/1";
        out["run"] = id;
        out["folder"] = (*writer)->folder().string();
        out["why"] = outcome.why;
        out["reason"] = outcome.reason;
        out["winner"] = winner.empty() ? Json(nullptr) : Json(winner);
        out["record"] = record::to_json(outcome.run);
        print_json(out);
    } else {
        // The reason has been printed with the error already.
        record::Run shown = outcome.run;
        if (!outcome.error.message.empty()) shown.reason.clear();
        fmt::print("{}", report::run_summary(shown, winner, commands));
    }
    return static_cast<Exit>(outcome.exit_code);
}

}  // namespace kernelwright::cli
