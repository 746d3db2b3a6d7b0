// decide() over written-out histories: each row is a run so far and what must be asked next.
#include "harness/search/situation.h"

#include <gtest/gtest.h>

#include <sstream>

namespace kernelwright::search {
namespace {

using record::Attempt;
using record::AttemptKind;
using record::State;

// "d:compile" a draft that failed to compile, "o:20" an optimisation that passes in 20 us, "r:none", "x:=2" a
// restart that repeats attempt 2. "r:compile/3" has three errors. A base is the attempt before.
record::Run history(const std::string& text) {
    record::Run run;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        Attempt attempt;
        attempt.number = static_cast<int>(run.attempts.size()) + 1;
        attempt.base = attempt.number - 1;
        attempt.finished = true;
        attempt.state = word[0] == 'd'   ? State::draft
                        : word[0] == 'r' ? State::repair
                        : word[0] == 'o' ? State::optimise
                                         : State::restart;
        const std::string what = word.substr(2);
        if (const auto kind = record::parse_attempt_kind(what)) {
            attempt.kind = *kind;
        } else if (what[0] == '=') {
            attempt.kind = AttemptKind::duplicate;
            attempt.duplicate_of = std::stoi(what.substr(1));
        } else {
            attempt.kind = AttemptKind::evaluated;
            record::Evaluation evaluation;
            if (std::isdigit(what[0]) != 0) {
                evaluation.pass = true;
                evaluation.time = record::TimeEstimate{std::stod(what) * 1e-6, "modelled", "", 5e-6};
            } else {
                const std::size_t slash = what.find('/');
                evaluation.stage = parse_stage(what.substr(0, slash));
                EXPECT_TRUE(evaluation.stage) << what;
                const int errors = slash == std::string::npos ? 1 : std::stoi(what.substr(slash + 1));
                evaluation.diagnostics.resize(static_cast<std::size_t>(errors));
                for (Diagnostic& d : evaluation.diagnostics) d.stage = *evaluation.stage;
            }
            attempt.evaluation = evaluation;
        }
        run.attempts.push_back(attempt);
    }
    return run;
}

std::string next(const std::string& text, const Policy& policy = {}) {
    const record::Run run = history(text);
    const Decision decision = decide(run, policy);
    if (!decision.ask) return "stop: " + decision.stop;
    std::string out = to_string(decision.ask->state);
    if (decision.ask->base != nullptr) out += " " + std::to_string(decision.ask->base->number);
    return out;
}

struct Row {
    const char* history;
    const char* next;
};

class Decide : public ::testing::TestWithParam<Row> {};

TEST_P(Decide, AsksForWhatTheHistoryCallsFor) { EXPECT_EQ(next(GetParam().history), GetParam().next); }

INSTANTIATE_TEST_SUITE_P(
    Histories, Decide,
    ::testing::Values(
        Row{"", "draft"},
        // a failure is repaired, from the attempt that failed
        Row{"d:compile", "repair 1"}, Row{"d:compile r:numerics", "repair 2"},
        // a pass is optimised
        Row{"d:20", "optimise 1"}, Row{"d:compile r:20", "optimise 2"},
        // a failed optimisation is repaired; the best stays the best
        Row{"d:20 o:sanitize", "repair 2"},
        // a slower candidate: from the fastest again
        Row{"d:20 o:30", "optimise 1"}, Row{"d:20 o:10", "optimise 2"},
        // less than one per cent is no gain: the first of the line stays the base
        Row{"d:20 o:19.9", "optimise 1"},
        // repairs that get further are progress: a later stage, or fewer errors
        Row{"d:compile r:sanitize r:sanitize r:sanitize", "repair 4"},
        Row{"d:compile/9 r:compile/8 r:compile/7 r:compile/6 r:compile/5", "repair 5"},
        // three that do not: another idea
        Row{"d:compile r:compile r:compile r:compile", "restart"},
        Row{"d:sanitize r:compile r:compile r:compile", "restart"},
        // after a restart the count begins anew
        Row{"d:compile r:compile r:compile r:compile x:compile r:compile", "repair 6"},
        // three correct candidates without gain: another idea
        Row{"d:20 o:21 o:22 o:23", "restart"},
        // a new idea is followed up although it is slower at first
        Row{"d:20 o:21 o:22 o:23 x:40", "optimise 5"}, Row{"d:20 o:21 o:22 o:23 x:40 o:30", "optimise 6"},
        // no candidate: the same is asked again, from the same base
        Row{"d:none", "draft"}, Row{"d:20 o:several", "optimise 1"}, Row{"d:compile r:truncated", "repair 1"},
        Row{"d:20 o:none o:none o:none o:none o:none", "stop: no candidate"},
        // a duplicate of a failure is a repair without progress, of a pass an optimisation without gain
        Row{"d:compile r:=1", "repair 1"}, Row{"d:compile r:=1 r:=1 r:=1", "restart"},
        Row{"d:20 o:=1", "optimise 1"}, Row{"d:20 o:=1 o:=1 o:=1", "restart"},
        // other ideas that bring nothing end the search
        Row{"d:20 o:21 o:22 o:23 x:25 o:26 o:27 o:28 x:25 o:26 o:27 o:28 x:25 o:26 o:27 o:28",
            "stop: stalled"},
        // ... and one that does gives it new life
        Row{"d:20 o:21 o:22 o:23 x:25 o:26 o:27 o:28 x:25 o:26 o:27 o:28 x:15 o:26 o:27 o:28", "restart"},
        // a restart whose answers hold no candidate is still one restart
        Row{"d:20 o:21 o:22 o:23 x:none x:none x:30", "optimise 7"},
        // within 1.1x of the roofline (5 us) it is done
        Row{"d:20 o:5.5", "stop: target"}, Row{"d:20 o:5.6", "optimise 2"}));

TEST(DecideTest, LimitsAreThePolicys) {
    Policy policy;
    policy.repairs_without_progress = 1;
    policy.target_roofline = 0;
    EXPECT_EQ(next("d:compile r:compile", policy), "restart");
    EXPECT_EQ(next("d:20 o:5.1", policy), "optimise 2");
    EXPECT_EQ(policy_from_json(to_json(policy)), policy);
    EXPECT_EQ(policy_from_json(Json("nonsense")), Policy{});
}

TEST(DecideTest, AnUnfinishedAttemptDoesNotCount) {
    record::Run run = history("d:20 o:10");
    run.attempts.back().finished = false;
    EXPECT_EQ(decide(run, {}).ask->base->number, 1);
}

}  // namespace
}  // namespace kernelwright::search
