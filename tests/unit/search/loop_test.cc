#include "harness/search/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/core/files.h"
#include "tests/unit/search/fakes.h"

namespace kernelwright::search {
namespace {

using record::AttemptKind;
using record::State;
using ::testing::HasSubstr;
using ::testing::Not;

class Log final : public Progress {
  public:
    void status(const std::string& line) override { statuses.push_back(line); }
    void message(const std::string& line) override { messages.push_back(line); }
    std::vector<std::string> statuses, messages;
};

class LoopTest : public ::testing::Test {
  protected:
    // Runs `author` in a new run, or goes on with `id`.
    SearchOutcome search(FakeAuthor& author, const std::string& id = "") {
        auto opened = id.empty() ? store.create("softmax_rows") : store.open(id);
        EXPECT_TRUE(opened.ok()) << opened.error().str();
        SearchParts parts;
        parts.task = &task;
        parts.device = a100();
        parts.author = &author;
        parts.evaluator = &evaluator;
        parts.skills = &skills;
        parts.run = opened->get();
        parts.progress = &log;
        parts.clock = &clock;
        parts.stop = stop.get_token();
        last_id = (*opened)->id();
        SearchOutcome outcome = run_search(parts, config);
        const auto stored = (*opened)->load();
        EXPECT_TRUE(stored.ok());
        EXPECT_EQ(stored->attempts, outcome.run.attempts);
        EXPECT_EQ(stored->state, outcome.run.state);
        return outcome;
    }
    int count_events(const std::string& kind) {
        const auto events = record::read_events(store.folder(last_id) / "events.jsonl");
        EXPECT_TRUE(events.ok());
        int count = 0;
        for (const Json& event : events->events) count += event["event"] == kind ? 1 : 0;
        return count;
    }

    record::MemoryFolder temp;
    record::StillClock clock;
    record::Store store{temp.path() / "results", clock};
    Task task = softmax_task();
    FakeEvaluator evaluator;
    FakeSkills skills{temp.path() / "evidence.jsonl"};
    SearchConfig config;
    Log log;
    std::stop_source stop;
    std::string last_id;
};

// The line of an ordinary run: a compile error, a race, a first correct kernel, a faster one.
std::vector<Reply> ordinary() {
    return {answer("naive", candidate("fail compile nvrtc 5")),
            answer("tiles", candidate("fail sanitize shared-race 8")),
            answer("tiles with a barrier", candidate("pass 4e-5")),
            answer("float4 loads", candidate("pass 1e-5"), "load.vectorise")};
}

TEST_F(LoopTest, ARunFromDraftToWinner) {
    FakeAuthor author(ordinary());
    const SearchOutcome outcome = search(author);
    EXPECT_EQ(outcome.why, "author exhausted");
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.run.state, "finished");
    ASSERT_EQ(outcome.run.attempts.size(), 4U);
    std::vector<std::string> labels;
    std::vector<State> asked;
    for (const record::Attempt& a : outcome.run.attempts) {
        labels.push_back(outcome_label(a));
        asked.push_back(a.state);
        EXPECT_TRUE(a.finished);
    }
    EXPECT_EQ(labels, (std::vector<std::string>{"compile error", "race", "pass", "pass"}));
    EXPECT_EQ(asked, (std::vector<State>{State::draft, State::repair, State::repair, State::optimise}));
    EXPECT_EQ(outcome.run.best()->number, 4);
    EXPECT_EQ(*read_file(store.folder(last_id) / "winner.cu"), candidate("pass 1e-5"));
    EXPECT_EQ(outcome.run.usage().input_tokens, 4000);
    EXPECT_EQ(outcome.run.evaluations(), 4);
    EXPECT_EQ(evaluator.calls, 4);
    EXPECT_EQ(count_events("turn.requested"), 5) << "four answers, and the one that never came";
    EXPECT_EQ(count_events("attempt.profiled"), 2);
}

// What an author is sent: taking any of these out of the prompt builder fails here.
TEST_F(LoopTest, RequestsCarryFindingsCountersSkillsAndHistory) {
    FakeAuthor author(ordinary());
    search(author);
    ASSERT_EQ(author.prompts.size(), 5U);
    const std::string after_race = author.body(3);
    for (const char* part : {"candidate.cu:8: error:", "shared-race", "Line 7: the write it races with",
                             ">    8 |     y[threadIdx.x] = tile[31 - threadIdx.x];",
                             "1 (draft): naive: compile error", "2 (repair): tiles: race"}) {
        EXPECT_THAT(after_race, HasSubstr(part));
    }
    EXPECT_THAT(after_race, Not(HasSubstr("l1tex__")));
    const std::string after_pass = author.body(4);
    for (const char* part : {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                             "dram__throughput.avg.pct_of_peak_sustained_elapsed", "load.vectorise",
                             "Load four neighbours with one float4.", "used 5 times, faster 4 times",
                             "40.0 us (modelled)", "EVAL pass 4e-5"}) {
        EXPECT_THAT(after_pass, HasSubstr(part));
    }
    for (const Prompt& prompt : author.prompts) {
        EXPECT_EQ(prompt.system, author.prompts[0].system);
        EXPECT_EQ(prompt.messages[0], author.prompts[0].messages[0])
            << "byte-identical, so that it is cached";
        EXPECT_EQ(prompt.messages[1], author.prompts[0].messages[1]);
    }
}

TEST_F(LoopTest, AResumedRunSendsTheSameBytesAndGoesOn) {
    FakeAuthor first({ordinary()[0]});
    search(first);
    const std::string id = last_id;
    FakeAuthor second(ordinary());
    const SearchOutcome outcome = search(second, id);
    ASSERT_EQ(outcome.run.attempts.size(), 4U);
    EXPECT_EQ(evaluator.calls, 4);
    EXPECT_EQ(second.prompts[0].messages[0], first.prompts[0].messages[0]);
    EXPECT_EQ(second.prompts[0].messages[2].content, first.prompts[1].messages[2].content)
        << "the request without an answer is the one that is sent again";
    EXPECT_EQ(outcome.run.sittings, 2);
}

TEST_F(LoopTest, AnotherTaskPageCannotResume) {
    FakeAuthor author({ordinary()[0]});
    search(author);
    task.source += "\n";
    const SearchOutcome outcome = search(author, last_id);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.reason, HasSubstr("task page"));
}

TEST_F(LoopTest, OnlyOneWholeCandidateIsEvaluated) {
    const std::string block = "```cuda\n" + candidate("pass 1e-5") + "```\n";
    FakeAuthor author({reply_of("I will think about it."), reply_of(block + "or\n" + block),
                       reply_of("```cuda\n" + candidate("pass 1e-5")), reply_of(block, Outcome::truncated)});
    const SearchOutcome outcome = search(author);
    EXPECT_EQ(evaluator.calls, 0);
    EXPECT_EQ(outcome.exit_code, 1);
    std::vector<AttemptKind> kinds;
    for (const auto& a : outcome.run.attempts) kinds.push_back(a.kind);
    EXPECT_EQ(kinds, (std::vector<AttemptKind>{AttemptKind::none, AttemptKind::several, AttemptKind::unclosed,
                                               AttemptKind::truncated}));
    for (std::size_t n = 2; n <= 5; ++n) {
        EXPECT_THAT(author.body(n), HasSubstr("Your last answer was not used: ")) << n;
        EXPECT_THAT(author.body(n), HasSubstr("stands: draft"));
    }
    EXPECT_THAT(author.body(3), HasSubstr("2 candidate blocks"));
    EXPECT_THAT(author.body(5), HasSubstr("cut off"));
}

TEST_F(LoopTest, TheSameSourceIsNotEvaluatedTwice) {
    FakeAuthor author({answer("a", candidate("pass 4e-5")), answer("b", candidate("pass 4e-5") + "  \n")});
    const SearchOutcome outcome = search(author);
    EXPECT_EQ(evaluator.calls, 1);
    EXPECT_EQ(outcome.run.attempts[1].kind, AttemptKind::duplicate);
    EXPECT_EQ(outcome.run.attempts[1].duplicate_of, 1);
    EXPECT_THAT(author.body(3), HasSubstr("the very candidate of attempt 1"));
}

TEST_F(LoopTest, StopsAtTheTarget) {
    FakeAuthor author({answer("a", candidate("pass 1.05e-6")), answer("b", candidate("pass 1e-6"))});
    const SearchOutcome outcome = search(author);
    EXPECT_EQ(outcome.why, "target");
    EXPECT_EQ(author.prompts.size(), 1U);
}

TEST_F(LoopTest, BudgetsAreEnforcedBeforeARequest) {
    {
        config.budget.evals = 2;
        FakeAuthor author(ordinary());
        const SearchOutcome outcome = search(author);
        EXPECT_EQ(outcome.why, "budget");
        EXPECT_EQ(author.prompts.size(), 2U);
        EXPECT_EQ(outcome.exit_code, 1) << "no candidate was found";
        EXPECT_EQ(count_events("turn.requested"), 2) << "a turn that cannot be paid for is not opened";
    }
    {
        // Every answer is the same candidate: it is evaluated once, and asked about no more than 3 * 2 + 2
        // times.
        config.budget.evals = 2;
        FakeAuthor author(std::vector<Reply>(20, answer("a", candidate("fail"))));
        const SearchOutcome outcome = search(author);
        EXPECT_EQ(outcome.why, "budget") << outcome.reason;
        EXPECT_EQ(outcome.exhausted, "requests");
        EXPECT_EQ(author.prompts.size(), 8U);
    }
    {
        config.budget = {};
        config.budget.tokens = 6000;  // each turn costs 1100, of which the answer may take what is left
        FakeAuthor author(ordinary());
        const SearchOutcome outcome = search(author);
        EXPECT_EQ(outcome.why, "budget");
        EXPECT_THAT(outcome.reason, HasSubstr("tokens"));
        EXPECT_GE(author.prompts.size(), 1U);
        EXPECT_LT(author.prompts.size(), 5U);
        EXPECT_LT(author.caps.back(), 6000);
        EXPECT_LE(outcome.run.usage().total_tokens(), 6000);
    }
    {
        config.budget = {};
        config.budget.minutes = 10;
        FakeAuthor author(ordinary());
        author.on_ask = [this] { clock.elapsed += std::chrono::minutes(6); };
        const SearchOutcome outcome = search(author);
        EXPECT_EQ(outcome.why, "budget");
        EXPECT_EQ(author.prompts.size(), 2U);
    }
    {
        config.budget = {};
        config.budget.usd = 0.05;
        FakeAuthor author(ordinary());
        EXPECT_EQ(search(author).exit_code, 2) << "no price is known";
        EXPECT_TRUE(author.prompts.empty());
        config.price = Price{10, 10, 10, 10};
        const SearchOutcome outcome = search(author);
        EXPECT_EQ(outcome.why, "budget");
        EXPECT_LE(outcome.run.usage().usd, 0.05);
        EXPECT_GT(outcome.run.usage().usd, 0);
    }
}

TEST_F(LoopTest, ABudgetIsOneOverAllSittings) {
    config.budget.evals = 2;
    FakeAuthor author(ordinary());
    search(author);
    const std::string id = last_id;
    config.budget = {};
    FakeAuthor again(ordinary());
    EXPECT_EQ(search(again, id).why, "budget") << "the recorded limit holds";
    EXPECT_TRUE(again.prompts.empty());
    config.budget.evals = 3;
    const SearchOutcome outcome = search(again, id);
    EXPECT_EQ(again.prompts.size(), 1U) << "a larger one gives room for one more";
    EXPECT_EQ(outcome.run.attempts.size(), 3U);
}

TEST_F(LoopTest, AStopWhileAskingKeepsTheRun) {
    FakeAuthor author(ordinary());
    author.on_ask = [&] {
        if (author.prompts.size() == 3) stop.request_stop();
    };
    const SearchOutcome outcome = search(author);
    EXPECT_EQ(outcome.why, "interrupted");
    EXPECT_EQ(outcome.exit_code, 130);
    EXPECT_EQ(outcome.run.state, "interrupted");
    EXPECT_EQ(outcome.run.attempts.size(), 2U);
    stop = std::stop_source();
    FakeAuthor second(ordinary());
    EXPECT_EQ(search(second, last_id).run.attempts.size(), 4U);
    EXPECT_EQ(evaluator.calls, 4);
}

TEST_F(LoopTest, AStopWhileCheckingAbandonsTheCandidate) {
    FakeAuthor author(ordinary());
    evaluator.on_evaluate = [&] {
        if (evaluator.calls == 2) stop.request_stop();
    };
    const SearchOutcome outcome = search(author);
    EXPECT_EQ(outcome.exit_code, 130);
    ASSERT_EQ(outcome.run.attempts.size(), 2U);
    EXPECT_FALSE(outcome.run.attempts[1].finished);
    stop = std::stop_source();
    FakeAuthor second(ordinary());
    const SearchOutcome resumed = search(second, last_id);
    EXPECT_EQ(resumed.run.attempts.size(), 4U);
    EXPECT_EQ(second.prompts.size(), 3U) << "its answer was there already";
}

TEST_F(LoopTest, ABrokenStreamIsAskedForAgainAFewTimes) {
    std::vector<Reply> replies{reply_of("half an ans", Outcome::broken_stream), ordinary()[0]};
    FakeAuthor author(replies);
    const SearchOutcome outcome = search(author);
    EXPECT_EQ(outcome.run.attempts.size(), 1U);
    EXPECT_EQ(count_events("turn.failed"), 1);
    EXPECT_EQ(outcome.run.usage().input_tokens, 2000) << "what broke is paid for as well";
    // A replayed conversation holds the broken answer too: going on skips it.
    FakeAuthor second({replies[0], replies[1], ordinary()[1]});
    EXPECT_EQ(search(second, last_id).run.attempts.size(), 2U);

    FakeAuthor broken(std::vector<Reply>(9, replies[0]));
    const SearchOutcome given_up = search(broken);
    EXPECT_EQ(broken.prompts.size(), 3U);
    EXPECT_EQ(given_up.why, "author failed");
    EXPECT_EQ(given_up.exit_code, 3);
    EXPECT_EQ(given_up.run.state, "paused");
    FakeAuthor healed({replies[0], replies[0], replies[0], ordinary()[0]});
    EXPECT_EQ(search(healed, last_id).run.attempts.size(), 1U) << "paused, not lost";
}

TEST_F(LoopTest, AnEndpointThatCannotBeReachedPausesTheRun) {
    FakeAuthor author({reply_of("", Outcome::unreachable)});
    const SearchOutcome outcome = search(author);
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_EQ(outcome.run.state, "paused");
    FakeAuthor wrong({reply_of("", Outcome::rejected)});
    EXPECT_EQ(search(wrong).exit_code, 2);
}

TEST_F(LoopTest, AMissingCompilerIsNotTheCandidatesFault) {
    evaluator.missing = Error{"no NVRTC"};
    FakeAuthor author(ordinary());
    const SearchOutcome outcome = search(author);
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_EQ(outcome.error.message, "no NVRTC");
    EXPECT_FALSE(outcome.run.attempts[0].evaluation.has_value());
    evaluator.missing.reset();
    FakeAuthor second(ordinary());
    EXPECT_EQ(search(second, last_id).run.attempts.size(), 4U);
}

TEST_F(LoopTest, SkillsLeaveEvidence) {
    FakeAuthor author({answer("naive", candidate("pass 4e-5")),
                       answer("float4", candidate("fail sanitize misaligned 8"), "load.vectorise"),
                       answer("float4, tail apart", candidate("pass 1e-5")),
                       answer("other", candidate("pass 2e-5"))});
    const SearchOutcome outcome = search(author);
    const auto lines = lines_of(temp.path() / "evidence.jsonl");
    ASSERT_EQ(lines.size(), 3U);
    const Json failed = Json::parse(lines[0]), won = Json::parse(lines[1]), lost = Json::parse(lines[2]);
    EXPECT_EQ(failed["outcome"], "failed");
    EXPECT_EQ(failed["failure_code"], "misaligned");
    EXPECT_EQ(failed["followed"], true);
    // The repair that passes is what the advice led to.
    EXPECT_EQ(won["attempt"], 3);
    EXPECT_EQ(won["offered_at"], 2);
    EXPECT_EQ(won["parent"], 1);
    EXPECT_EQ(won["outcome"], "judged");
    EXPECT_DOUBLE_EQ(won["speedup"].get<double>(), 4.0);
    EXPECT_EQ(won["how"], "modelled");
    EXPECT_EQ(won["expected_moved"], true);
    EXPECT_EQ(won["followed"], true);
    EXPECT_EQ(won["credited"], true);
    // Slower, and the author did not follow it.
    EXPECT_EQ(lost["attempt"], 4);
    EXPECT_EQ(lost["parent"], 3);
    EXPECT_EQ(lost["faster"], false);
    EXPECT_EQ(lost["followed"], false);
    EXPECT_EQ(lost["credited"], false);
    EXPECT_EQ(outcome.run.evidence.size(), 3U);
    EXPECT_EQ(count_events("skill.evidence"), 3);
}

TEST_F(LoopTest, TheRecordSaysWhatOpenTelemetryWouldAsk) {
    FakeAuthor author({ordinary()[0]});
    search(author);
    const auto events = record::read_events(store.folder(last_id) / "events.jsonl");
    for (const Json& event : events->events) {
        if (event["event"] != "turn.answered") continue;
        EXPECT_EQ(event["usage"]["gen_ai.usage.input_tokens"], 1000);
        EXPECT_EQ(event["usage"]["gen_ai.usage.output_tokens"], 100);
        EXPECT_EQ(event["gen_ai.response.model"], "fake-1");
        EXPECT_EQ(event["gen_ai.operation.name"], "chat");
    }
}

}  // namespace
}  // namespace kernelwright::search
