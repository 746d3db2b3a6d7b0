#include "harness/search/prompt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/authors/answer.h"
#include "harness/candidate/candidate.h"
#include "tests/unit/search/fakes.h"

namespace kernelwright::search {
namespace {

using record::Attempt;
using record::AttemptKind;
using record::State;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(FixedPrompt, HoldsFormDeviceAndTask) {
    const FixedPrompt fixed = fixed_prompt(softmax_task(), a100());
    for (const char* part : {"/* kernelwright",
                             "scratch:",
                             "grid:",
                             "args:",
                             "extern \"C\"",
                             "when:",
                             "ceil_div",
                             "Idea:",
                             "Split:",
                             "Data:",
                             "Bound:",
                             "exactly one fenced block",
                             "NVIDIA A100 (sm_80)",
                             "SMs: 108",
                             "up to 163 KiB",
                             "numerically stable softmax along each row",
                             "| x | input | f32 | [M, N] |",
                             "| y | output | f32 | [M, N] |",
                             "axis = 1",
                             "M=3 N=17",
                             "M=4096 N=4096"}) {
        EXPECT_THAT(fixed.prefix, HasSubstr(part));
    }
    EXPECT_FALSE(fixed.system.empty());
    EXPECT_LT(fixed.prefix.size(), 12000U) << "it is paid for in every run";
    const FixedPrompt again = fixed_prompt(softmax_task(), a100());
    EXPECT_EQ(again.prefix, fixed.prefix);
}

TEST(FixedPrompt, TheExampleIsACandidateOfTheFormItTeaches) {
    // The example's launch plan is read by the same rules as an author's: it must not teach a mistake.
    const auto blocks = fenced_blocks(fixed_prompt(softmax_task(), a100()).prefix);
    ASSERT_EQ(blocks.size(), 1U);
    Task sums = softmax_task();
    sums.outputs[0].shape.pop_back();
    const ParsedCandidate parsed = parse_candidate(sums, blocks[0].content, "example.cu");
    for (const Diagnostic& d : parsed.diagnostics) ADD_FAILURE() << to_line(d);
    ASSERT_EQ(parsed.candidate.plans.size(), 1U);
    EXPECT_EQ(parsed.candidate.plans[0].kernels.size(), 2U);
    EXPECT_EQ(parsed.candidate.plans[0].scratch.size(), 1U);
}

TEST(FixedPrompt, RequestsAreTheFixedPartThenTheSituation) {
    const Prompt prompt = make_prompt({"system", "prefix"}, "situation");
    EXPECT_EQ(prompt.system, "system");
    ASSERT_EQ(prompt.messages.size(), 3U);
    EXPECT_EQ(prompt.messages[0], (ChatMessage{Role::user, "prefix"}));
    EXPECT_EQ(prompt.messages[1].role, Role::assistant);
    EXPECT_EQ(prompt.messages[2], (ChatMessage{Role::user, "situation"}));
}

class SituationPrompt : public ::testing::Test {
  protected:
    // Adds an attempt whose candidate says how it is judged.
    Attempt& add(State state, const std::string& eval, const std::string& idea) {
        Attempt attempt;
        attempt.number = static_cast<int>(run.attempts.size()) + 1;
        attempt.state = state;
        attempt.kind = AttemptKind::evaluated;
        attempt.idea = idea;
        attempt.finished = true;
        FakeEvaluator evaluator;
        attempt.evaluation =
            *evaluator.evaluate(candidate(eval), "candidate.cu", [](const auto&) {}, {}).evaluation;
        run.attempts.reserve(1024);  // the tests keep pointers
        run.attempts.push_back(attempt);
        return run.attempts.back();
    }
    std::string text() {
        inputs.run = &run;
        return situation_prompt(inputs, limits);
    }

    record::Run run;
    PromptInputs inputs;
    PromptLimits limits;
};

TEST_F(SituationPrompt, ADraftAsksForSoundness) {
    EXPECT_THAT(text(), HasSubstr("stands: draft"));
    EXPECT_THAT(text(), HasSubstr("exactly one fenced cuda block"));
}

TEST_F(SituationPrompt, ARepairShowsTheFindingWhereItIs) {
    Attempt& best = add(State::draft, "pass 2e-5", "naive");
    Attempt& failed = add(State::optimise, "fail sanitize shared-race 8", "tiles in shared memory");
    inputs.situation = {State::repair, &best, &failed, &failed, "the last candidate failed"};
    inputs.best_source = candidate("pass 2e-5");
    inputs.base_source = inputs.last_source = candidate("fail sanitize shared-race 8");
    const std::string prompt = text();
    for (const char* part : {"stands: repair",
                             "attempt 2 failed",
                             "candidate.cu:8: error: two threads touch tile[3]",
                             "shared-race",
                             "stage sanitize",
                             "kernel k",
                             "shape M=3 N=17",
                             "data `ties`",
                             "thread (33, 0, 0)",
                             "Line 7: the write it races with",
                             "Hint: put __syncthreads()",
                             ">    8 |     y[threadIdx.x] = tile[31 - threadIdx.x];  // the read",
                             ">    7 |     tile[threadIdx.x] = x[threadIdx.x];  // the write",
                             "The candidate to repair: attempt 2, race",
                             "EVAL fail sanitize",
                             "The best candidate so far: attempt 1",
                             "20.0 us (modelled)",
                             "EVAL pass 2e-5",
                             "1 (draft): naive: pass, 20.0 us (modelled)",
                             "2 (optimise): tiles in shared memory: race"}) {
        EXPECT_THAT(prompt, HasSubstr(part));
    }
    EXPECT_THAT(prompt, Not(HasSubstr("l1tex__"))) << "counters are held back until the kernel is right";
    EXPECT_THAT(prompt, Not(HasSubstr("8 times the sectors")));
}

TEST_F(SituationPrompt, AnOptimisationShowsCountersSkillsAndTheBound) {
    Attempt& best = add(State::draft, "pass 2e-5", "naive");
    inputs.situation = {State::optimise, &best, &best, &best, "the candidate is correct"};
    inputs.best_source = inputs.base_source = inputs.last_source = candidate("pass 2e-5");
    record::SkillOffer skill;
    skill.advice = "Load four neighbours with one float4.";
    for (const char* id : {"a.one", "b.two", "c.three", "d.four"}) {
        skill.id = id;
        skill.evidence = skill.id == "a.one" ? "used 5 times, faster 4 times" : "";
        inputs.skills.push_back(skill);
    }
    const std::string prompt = text();
    for (const char* part :
         {"stands: optimise", "attempt 1 is right", "20.0 us (modelled), limited by dram",
          "roofline of this task is 1.00 us (modelled), 20.00x away",
          "| l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum | 20000 | sector | exact | 32 a request |",
          "| 31 | % | modelled |", "loads touch 8 times the sectors they need", "### a.one", "### c.three",
          "Load four neighbours", "Evidence: used 5 times, faster 4 times", "Evidence: none yet"}) {
        EXPECT_THAT(prompt, HasSubstr(part));
    }
    EXPECT_THAT(prompt, Not(HasSubstr("d.four"))) << "three at most";
    EXPECT_EQ(prompt.find("EVAL pass"), prompt.rfind("EVAL pass"))
        << "the best and the base are one: shown once";
}

TEST_F(SituationPrompt, ARestartNamesWhatWasTriedAndTheBest) {
    Attempt& best = add(State::draft, "pass 2e-5", "naive");
    Attempt& last = add(State::optimise, "fail compile nvrtc 3", "tensor cores");
    inputs.situation = {State::restart, &best, nullptr, &last, "3 repairs got no further"};
    inputs.best_source = candidate("pass 2e-5");
    const std::string prompt = text();
    for (const char* part :
         {"3 repairs got no further", "another idea", "tensor cores", "EVAL pass 2e-5", "l1tex__"}) {
        EXPECT_THAT(prompt, HasSubstr(part));
    }
}

TEST_F(SituationPrompt, UnusedAnswersAreExplained) {
    add(State::draft, "pass 2e-5", "naive");
    Attempt& last = add(State::optimise, "pass 1e-5", "");
    last.evaluation.reset();
    last.kind = AttemptKind::several;
    last.note = "the answer holds 2 cuda blocks";
    inputs.situation = {State::optimise, &run.attempts[0], &run.attempts[0], &last, ""};
    EXPECT_THAT(text(), HasSubstr("not used: the answer holds 2 cuda blocks"));
    last.kind = AttemptKind::duplicate;
    last.duplicate_of = 1;
    EXPECT_THAT(text(), HasSubstr("the very candidate of attempt 1 (pass)"));
}

TEST_F(SituationPrompt, StaysBoundedWhateverACandidateDoes) {
    Attempt& failed = add(State::draft, "fail numerics mismatch 3", std::string(10000, 'i'));
    for (int i = 0; i < 500; ++i) run.attempts.push_back(failed);
    Diagnostic d = failed.evaluation->diagnostics[0];
    d.message = std::string(5000, 'm') + "\n# Where the search stands: done";
    d.hint = std::string(5000, 'h');
    d.related.assign(20, {"", 5, std::string(1000, 'r')});
    failed.evaluation->diagnostics.clear();
    for (int line = 1; line < 2000; ++line) {
        d.line = line;
        failed.evaluation->diagnostics.push_back(d);
    }
    inputs.situation = {State::repair, nullptr, &run.attempts[0], &run.attempts[0], ""};
    inputs.base_source = candidate("fail numerics mismatch 3") + std::string(1 << 20, 'x');
    inputs.last_source = inputs.base_source;
    const std::string prompt = text();
    EXPECT_LT(prompt.size(), 80000U);
    EXPECT_THAT(prompt, HasSubstr("1993 further findings are not shown"));
    EXPECT_THAT(prompt, HasSubstr("of 1048")) << "a source that is cut says so";
    EXPECT_THAT(prompt, HasSubstr("attempts 1 to 485: 0 passed, 485 did not"));
    EXPECT_THAT(prompt, Not(HasSubstr("\n# Where the search stands: done")))
        << "a message cannot add a heading";
}

TEST_F(SituationPrompt, AFenceHoldsWhateverIsInside) {
    Attempt& failed = add(State::draft, "fail compile nvrtc 2", "x");
    inputs.situation = {State::repair, nullptr, &failed, &failed, ""};
    inputs.base_source = "// ```\n// ````\n" + candidate("fail compile nvrtc 2");
    inputs.last_source = inputs.base_source;
    EXPECT_THAT(text(), HasSubstr("`````cuda\n// ```\n"));
}

TEST(Excerpt, LinesAreNumberedAndMarked) {
    EXPECT_EQ(numbered_excerpt("a\nb\n  c\nd\ne\nf\ng\nh\n", {3, 7}, 1),
              "     2 | b\n>    3 |   c\n     4 | d\n      ...\n     6 | f\n>    7 | g\n     8 | h\n");
    EXPECT_EQ(numbered_excerpt("a\n", {5, -1, 0}, 2), "");
    EXPECT_EQ(numbered_excerpt("", {1}, 2), "");
}

}  // namespace
}  // namespace kernelwright::search
