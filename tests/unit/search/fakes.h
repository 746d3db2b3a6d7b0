// A conversation, a judge and a skill library that do what a test says.
//
// The judge reads its verdict out of the source it is given: a line "EVAL pass 2e-5" or
// "EVAL fail STAGE RULE LINE". The logs are files, so that they outlive a process that a test ends on
// purpose.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "harness/authors/author.h"
#include "harness/core/hash.h"
#include "harness/search/interfaces.h"
#include "harness/search/loop.h"
#include "harness/tasks/task.h"
#include "tests/unit/store/temp_store.h"

namespace kernelwright::search {

inline std::vector<std::string> lines_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

inline void log_line(const std::filesystem::path& file, const std::string& line) {
    std::ofstream(file, std::ios::app) << line << "\n";
}

inline std::string candidate(const std::string& eval, const std::string& more = "") {
    return "/* kernelwright\nkernels:\n  - {name: k, grid: [M], block: [32], args: [x, y, M, N]}\n*/\n"
           "extern \"C\" __global__ void k(const float* x, float* y, int M, int N) {\n"
           "    __shared__ float tile[32];\n"
           "    tile[threadIdx.x] = x[threadIdx.x];  // the write\n"
           "    y[threadIdx.x] = tile[31 - threadIdx.x];  // the read\n"
           "}\n// EVAL " +
           eval + "\n" + more;
}

inline Reply reply_of(const std::string& text, Outcome outcome = Outcome::complete) {
    Reply reply;
    reply.text = text;
    reply.outcome = outcome;
    reply.usage.input_tokens = 1000;
    reply.usage.output_tokens = 100;
    reply.usage.reported = true;
    reply.model = "fake-1";
    if (outcome != Outcome::complete) reply.error.message = std::string("fake: ") + to_string(outcome);
    return reply;
}

inline Reply answer(const std::string& idea, const std::string& source, const std::string& skills = "none") {
    return reply_of("Idea: " + idea + "\nComputes: rows\nSkills: " + skills + "\n\n```cuda\n" + source +
                    "```\n");
}

class FakeAuthor final : public Author {
  public:
    explicit FakeAuthor(std::vector<Reply> replies, std::filesystem::path log = {})
        : replies_(std::move(replies)), log_(std::move(log)) {}

    using Author::ask;
    Reply ask(const Prompt& prompt, const AskLimits& limits, const ProgressCallback&) override {
        prompts.push_back(prompt);
        caps.push_back(limits.max_output_tokens);
        if (!log_.empty()) log_line(log_, std::to_string(next_));
        if (on_ask) on_ask();
        if (limits.stop.stop_requested()) return reply_of("", Outcome::cancelled);
        if (next_ >= replies_.size()) {
            Reply end;
            end.outcome = Outcome::exhausted;
            return end;
        }
        const Reply& reply = replies_[next_];
        ++next_;
        return reply;
    }
    std::string describe() const override { return "fake"; }
    void skip_turns(int turns) override { next_ = static_cast<std::size_t>(turns); }

    // The changing part of the n-th request (from 1).
    std::string body(std::size_t n) const { return prompts.at(n - 1).messages.back().content; }

    std::vector<Prompt> prompts;
    std::vector<std::int64_t> caps;
    std::function<void()> on_ask;

  private:
    std::vector<Reply> replies_;
    std::filesystem::path log_;
    std::size_t next_ = 0;
};

class FakeEvaluator final : public Evaluator {
  public:
    explicit FakeEvaluator(std::filesystem::path log = {}) : log_(std::move(log)) {}

    EvaluateOutcome evaluate(const std::string& source, const std::string& file, const PhaseSink& phase,
                             const std::stop_token& stop) override {
        ++calls;
        if (!log_.empty()) log_line(log_, sha256_hex(source));
        phase("smallest shape");
        if (on_evaluate) on_evaluate();
        if (stop.stop_requested()) return EvaluateOutcome{{}, true, {}};
        if (missing) return EvaluateOutcome{{}, false, missing};
        std::istringstream words(source.substr(source.find("// EVAL ") + 8));
        std::string verdict;
        words >> verdict;
        record::Evaluation evaluation;
        evaluation.shapes_checked = 2;
        evaluation.depth = "shape M=3 N=17";
        if (verdict == "pass") {
            double seconds = 0;
            words >> seconds;
            evaluation.pass = true;
            evaluation.time = record::TimeEstimate{seconds, "modelled", "dram", 1e-6};
            evaluation.counters = {
                {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", 1e9 * seconds, "exact",
                 "32 a request"},
                {"dram__throughput.avg.pct_of_peak_sustained_elapsed", "%", 31, "modelled", ""}};
            evaluation.bottlenecks = {"loads touch 8 times the sectors they need"};
            evaluation.profile = Json{{"bound", "dram"}};
        } else {
            std::string stage;
            Diagnostic d;
            words >> stage >> d.rule >> d.line;
            d.stage = parse_stage(stage).value_or(Stage::limits);
            d.file = file;
            d.message = "two threads touch tile[3] without a barrier between";
            d.hint = "put __syncthreads() between the write and the read";
            d.kernel = "k";
            d.shape = {{"M", 3}, {"N", 17}};
            d.case_name = "ties";
            d.thread = {33, 0, 0};
            d.related = {{"", 7, "the write it races with"}};
            evaluation.stage = d.stage;
            evaluation.diagnostics = {d};
        }
        return EvaluateOutcome{evaluation, false, {}};
    }

    int calls = 0;
    std::function<void()> on_evaluate;
    std::optional<Error> missing;

  private:
    std::filesystem::path log_;
};

class FakeSkills final : public SkillBook {
  public:
    explicit FakeSkills(std::filesystem::path file = {}) : file_(std::move(file)) {}

    std::vector<record::SkillOffer> select(const SkillQuery& query) override {
        queries.push_back(query.state);
        seen_offered.push_back(query.already_offered);
        // A rule about memory traffic holds only where there are counters.
        if (query.base == nullptr || !query.base->pass) return {};
        record::SkillOffer offer;
        offer.id = "load.vectorise";
        offer.version = "3";
        offer.advice = "Load four neighbours with one float4.";
        offer.evidence = "used 5 times, faster 4 times";
        return {offer};
    }
    Json judge(const record::SkillOffer&, const record::Evaluation& parent,
               const record::Evaluation& child) override {
        return Json{{"expected_moved", child.counters[0].value < parent.counters[0].value}};
    }
    Status append_evidence(const record::Evidence& evidence) override {
        for (const std::string& line : lines_of(file_)) {
            if (Json::parse(line)["key"] == evidence.key) return Done{};
        }
        log_line(file_, evidence.document.dump());
        return Done{};
    }

    std::vector<record::State> queries;
    std::vector<std::vector<std::string>> seen_offered;

  private:
    std::filesystem::path file_;
};

inline Task softmax_task() {
    const auto task = parse_task(R"(---
name: softmax_rows
summary: Softmax over each row
op: softmax
params: {axis: 1}
symbols: [M, N]
inputs:
  x: {dtype: f32, shape: [M, N]}
outputs:
  y: {dtype: f32, shape: [M, N]}
check_shapes: [{M: 1, N: 1}, {M: 3, N: 17}]
tune_shapes: [{M: 4096, N: 4096}]
---
Compute a numerically stable softmax along each row of x.
)",
                                 "tasks/softmax_rows.md");
    EXPECT_TRUE(task.ok()) << task.error().str();
    return *task;
}

inline DeviceSummary a100() {
    return {"NVIDIA A100", "sm_80", {{"SMs", "108"}, {"shared memory of a block", "up to 163 KiB"}}};
}

}  // namespace kernelwright::search
