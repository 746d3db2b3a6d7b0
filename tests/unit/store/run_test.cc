#include "harness/store/run.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <fstream>

#include "harness/core/files.h"
#include "harness/store/index.h"
#include "harness/store/run_events.h"
#include "tests/unit/store/temp_store.h"

namespace kernelwright::record {
namespace {

Evaluation passing(double seconds) {
    Evaluation evaluation;
    evaluation.pass = true;
    evaluation.shapes_checked = 3;
    evaluation.cases_checked = 12;
    evaluation.depth = "tune shapes";
    evaluation.time = TimeEstimate{seconds, "modelled", "dram", seconds / 4};
    evaluation.counters = {{"smsp__inst_executed.sum", "inst", 1234, "exact", "why"}};
    evaluation.bottlenecks = {"dram: 93% of its peak"};
    evaluation.profile = Json{{"views", Json::array({1, 2})}};
    return evaluation;
}

Evaluation failing(Stage stage, const std::string& rule) {
    Evaluation evaluation;
    evaluation.stage = stage;
    Diagnostic diagnostic;
    diagnostic.rule = rule;
    diagnostic.stage = stage;
    diagnostic.file = "candidate.cu";
    diagnostic.line = 7;
    diagnostic.message = "m";
    evaluation.diagnostics = {diagnostic};
    return evaluation;
}

Attempt attempt(int number, Evaluation evaluation) {
    Attempt attempt;
    attempt.number = number;
    attempt.kind = AttemptKind::evaluated;
    attempt.evaluation = std::move(evaluation);
    attempt.finished = true;
    return attempt;
}

TEST(Run, EvaluationsSurviveARoundTrip) {
    for (const Evaluation& evaluation :
         {passing(1e-5), failing(Stage::sanitize, "shared-race"), Evaluation{}}) {
        const auto back = evaluation_from_json(Json::parse(to_json(evaluation).dump()));
        ASSERT_TRUE(back.ok()) << back.error().str();
        EXPECT_EQ(*back, evaluation);
    }
    EXPECT_FALSE(evaluation_from_json(Json::array()).ok());
    EXPECT_FALSE(evaluation_from_json(Json{{"verdict", "maybe"}}).ok());
    EXPECT_FALSE(evaluation_from_json(Json{{"verdict", "fail"}, {"stage", "nowhere"}}).ok());
}

TEST(Run, UsageHasOpenTelemetrysKeys) {
    TurnUsage usage;
    usage.input_tokens = 100;
    usage.output_tokens = 20;
    usage.cache_read_tokens = 80;
    usage.cache_creation_tokens = 5;
    usage.reasoning_tokens = 7;
    const Json json = to_json(usage);
    EXPECT_EQ(json["gen_ai.usage.input_tokens"], 100);
    EXPECT_EQ(json["gen_ai.usage.output_tokens"], 20);
    EXPECT_EQ(json["gen_ai.usage.cache_read.input_tokens"], 80);
    EXPECT_EQ(json["gen_ai.usage.cache_creation.input_tokens"], 5);
    EXPECT_EQ(json["gen_ai.usage.reasoning.output_tokens"], 7);
    EXPECT_EQ(usage_from_json(json), usage);
}

TEST(Run, OutcomesInATablesWords) {
    const auto label = [](Stage stage, const char* rule) {
        return outcome_label(attempt(1, failing(stage, rule)));
    };
    EXPECT_EQ(label(Stage::sanitize, "shared-race"), "race");
    EXPECT_EQ(label(Stage::sanitize, "out-of-bounds"), "out of bounds");
    EXPECT_EQ(label(Stage::compile, "nvrtc"), "compile error");
    EXPECT_EQ(label(Stage::numerics, "mismatch"), "wrong answer");
    EXPECT_EQ(label(Stage::plan, "unknown-name"), "bad plan");
    EXPECT_EQ(outcome_label(attempt(1, passing(1))), "pass");
    Attempt none;
    none.kind = AttemptKind::duplicate;
    none.duplicate_of = 3;
    EXPECT_EQ(outcome_label(none), "same as #3");
}

TEST(Run, BestIsTheFastestPassingFinishedAttempt) {
    record::Run run;
    run.attempts = {attempt(1, failing(Stage::compile, "nvrtc")), attempt(2, passing(4e-5)),
                    attempt(3, passing(2e-5)), attempt(4, passing(2e-5)), attempt(5, passing(1e-5))};
    run.attempts[4].finished = false;
    ASSERT_NE(run.best(), nullptr);
    EXPECT_EQ(run.best()->number, 3) << "the earlier of equals; one that is not finished does not count";
    EXPECT_EQ(run.first_passing()->number, 2);
}

class EventsTest : public ::testing::Test {
  protected:
    record::Run load() {
        auto run = writer->load();
        EXPECT_TRUE(run.ok()) << run.error().str();
        return run.ok() ? *run : record::Run{};
    }
    void append(const std::string& kind, const Json& fields) {
        ASSERT_TRUE(writer->append(kind, fields).ok());
    }

    MemoryFolder temp;
    StillClock clock;
    Store store{temp.path(), clock};
    std::unique_ptr<RunWriter> writer = [this] {
        auto run = store.create("t");
        return std::move(*run);
    }();
};

TEST_F(EventsTest, FoldsAWholeTurn) {
    append("run.started", {{"task", "t"}, {"task_hash", "h"}, {"config", {{"target", "sm_80"}}}});
    append("turn.requested",
           {{"turn", 1},
            {"state", "optimise"},
            {"prompt", "p"},
            {"base", 4},
            {"skills", Json::array({{{"id", "vectorise"}, {"version", "2"}, {"advice", "a"}}})}});
    append("turn.answered",
           {{"turn", 1},
            {"outcome", "complete"},
            {"reply", "r"},
            {"usage", {{"gen_ai.usage.input_tokens", 10}, {"gen_ai.usage.output_tokens", 5}}}});
    append("attempt.started", {{"attempt", 1}, {"kind", "evaluated"}, {"source", "s"}, {"idea", "i"}});
    EXPECT_FALSE(load().attempts[0].evaluation.has_value());
    const auto hash = writer->put(to_json(passing(3e-5)).dump());
    append("attempt.verdict", {{"attempt", 1}, {"evaluation", *hash}});
    append("attempt.profiled", {{"attempt", 1}});
    append("some.later.kind", {{"x", 1}});
    EXPECT_FALSE(load().attempts[0].finished);
    append("attempt.finished", {{"attempt", 1}});
    append("skill.evidence", {{"key", "k"}, {"evidence", {{"skill", "vectorise"}}}});
    append("skill.evidence", {{"key", "k"}, {"evidence", {{"skill", "vectorise"}}}});
    append("run.finished", {{"why", "target"}});
    const record::Run run = load();
    EXPECT_EQ(run.task, "t");
    EXPECT_EQ(run.state, "finished");
    EXPECT_EQ(run.why, "target");
    ASSERT_EQ(run.attempts.size(), 1U);
    const Attempt& one = run.attempts[0];
    EXPECT_EQ(one.state, State::optimise);
    EXPECT_EQ(one.base, 4);
    EXPECT_EQ(one.prompt, "p");
    EXPECT_EQ(one.reply, "r");
    EXPECT_EQ(one.skills.at(0).id, "vectorise");
    EXPECT_EQ(one.usage.total_tokens(), 15);
    EXPECT_EQ(*one.evaluation, passing(3e-5));
    EXPECT_TRUE(one.finished);
    EXPECT_EQ(run.evidence.size(), 1U) << "one key is one use";
    EXPECT_EQ(run.best()->number, 1);
}

TEST_F(EventsTest, TimeIsSummedOverSittings) {
    append("run.started", {{"task", "t"}, {"task_hash", "h"}});
    clock.elapsed += std::chrono::seconds(30);
    append("run.note", {{"note", "killed after this"}});
    clock.elapsed += std::chrono::hours(5);
    append("run.resumed", Json::object());
    clock.elapsed += std::chrono::seconds(12);
    append("run.note", {{"note", "x"}});
    EXPECT_DOUBLE_EQ(load().seconds, 42);
    EXPECT_EQ(load().sittings, 2);
}

TEST_F(EventsTest, CostOfFailedRequestsCounts) {
    append("turn.requested", {{"turn", 1}, {"state", "draft"}, {"prompt", "p"}});
    append("turn.failed", {{"turn", 1}, {"usage", {{"gen_ai.usage.input_tokens", 100}}}});
    append("turn.requested", {{"turn", 1}, {"state", "draft"}, {"prompt", "p"}});
    append("turn.answered", {{"turn", 1},
                             {"outcome", "complete"},
                             {"reply", "r"},
                             {"usage", {{"gen_ai.usage.input_tokens", 50}}}});
    const record::Run run = load();
    ASSERT_EQ(run.turns.size(), 1U);
    EXPECT_EQ(run.turns[0].failures, 1);
    EXPECT_EQ(run.usage().input_tokens, 150);
}

TEST_F(EventsTest, NonsenseIsAnErrorNotACrash) {
    const ArtifactReader none = [](const std::string&) -> Result<std::string> {
        return Error{"no artifact"};
    };
    const auto fails = [&](std::initializer_list<Json> events) {
        return !fold_events(std::vector<Json>(events), none, "log").ok();
    };
    EXPECT_TRUE(fails({{{"event", "run.started"}, {"seq", 1}}}));
    EXPECT_TRUE(fails({{{"event", "turn.answered"}, {"turn", 3}, {"outcome", "complete"}, {"reply", "r"}}}));
    EXPECT_TRUE(fails({{{"event", "attempt.finished"}, {"attempt", 3}}}));
    EXPECT_TRUE(fails({{{"event", "turn.requested"}, {"turn", "one"}, {"state", "draft"}, {"prompt", "p"}}}));
    EXPECT_TRUE(fails({{{"event", "attempt.started"}, {"attempt", 1}, {"kind", "nonsense"}}}));
    EXPECT_TRUE(fails({{{"event", "attempt.started"}, {"attempt", 1}, {"kind", "evaluated"}},
                       {{"event", "attempt.verdict"}, {"attempt", 1}, {"evaluation", "gone"}}}));
    EXPECT_TRUE(fails({{{"event", "attempt.started"}, {"attempt", 1}, {"kind", "none"}},
                       {{"event", "attempt.finished"}, {"attempt", 1}},
                       {{"event", "attempt.started"}, {"attempt", 1}, {"kind", "none"}}}));
    EXPECT_FALSE(fails({{{"event", "unheard.of"}}}));
    const auto placed = fold_events({{{"event", "unheard.of"}}, {{"event", "turn.failed"}}}, none, "log");
    ASSERT_FALSE(placed.ok());
    EXPECT_TRUE(placed.error().str().starts_with("log:2: ")) << placed.error().str();
}

TEST_F(EventsTest, TheIndexIsMadeAgainFromTheEvents) {
    append("run.started", {{"task", "t"}, {"task_hash", "h"}, {"config", {{"author", "replay"}}}});
    append("turn.requested", {{"turn", 1}, {"state", "draft"}, {"prompt", "p"}});
    append("turn.answered",
           {{"turn", 1}, {"outcome", "complete"}, {"reply", "r"}, {"usage", Json::object()}});
    append("attempt.started", {{"attempt", 1}, {"kind", "evaluated"}, {"source", "s"}});
    append("attempt.verdict", {{"attempt", 1}, {"evaluation", *writer->put(to_json(passing(3e-5)).dump())}});
    append("attempt.finished", {{"attempt", 1}});
    const auto file = temp.path() / "index.sqlite";
    std::vector<RunRow> before;
    {
        auto index = Index::open(file);
        ASSERT_TRUE(index.ok()) << index.error().str();
        ASSERT_TRUE(index->update(load()).ok());
        ASSERT_TRUE(index->update(load()).ok());
        before = *index->list();
        ASSERT_EQ(before.size(), 1U);
        EXPECT_EQ(before[0].best_attempt, 1);
        EXPECT_DOUBLE_EQ(before[0].best_seconds, 3e-5);
        EXPECT_EQ(before[0].best_how, "modelled");
        EXPECT_EQ(before[0].author, "replay");
        EXPECT_TRUE(index->list("other")->empty());
    }
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + suffix);
    const auto broken = store.create("broken");
    ASSERT_TRUE((*broken)->append("run.note", {{"note", "begun"}}).ok());
    std::ofstream(store.folder((*broken)->id()) / "events.jsonl") << "garbage\n{}\n";
    auto index = Index::open(file);
    ASSERT_TRUE(index.ok());
    std::vector<std::string> skipped;
    ASSERT_TRUE(index->rebuild(store, &skipped).ok());
    EXPECT_EQ(*index->list(), before);
    EXPECT_EQ(skipped, std::vector<std::string>{(*broken)->id()});
}

TEST_F(EventsTest, AnIndexThatIsNoDatabaseIsAnErrorValue) {
    const auto file = temp.path() / "index.sqlite";
    std::ofstream(file) << "this is no database, it is a text of some length that SQLite will not take\n";
    const auto index = Index::open(file);
    ASSERT_FALSE(index.ok());
    EXPECT_NE(index.error().str().find("deleted"), std::string::npos);
}

TEST_F(EventsTest, ADamagedOrMissingIndexIsMadeAgain) {
    append("run.started", {{"task", "t"}, {"task_hash", "h"}});
    append("turn.requested", {{"turn", 1}, {"state", "draft"}, {"prompt", "p"}});
    append("run.paused", {{"why", "author failed"}});
    const auto file = store.root() / "index.sqlite";
    std::string note;
    std::vector<RunRow> rows;
    {
        auto index = Index::open_for(store, &note);  // missing
        ASSERT_TRUE(index.ok()) << index.error().str();
        rows = *index->list();
        ASSERT_EQ(rows.size(), 1U);
        EXPECT_EQ(rows[0].state, "paused");
        EXPECT_EQ(note, "") << "nothing was damaged";
    }
    const std::string whole = *read_file(file);
    // No database at all; the tables' pages overwritten; cut off.
    std::string pages = whole;
    std::fill(pages.begin() + 1000, pages.end(), '\x5a');
    for (const std::string& content : {std::string(300, 'x'), pages, whole.substr(0, whole.size() / 2 + 7)}) {
        for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(file.string() + suffix);
        ASSERT_TRUE(write_file_atomic(file, content).ok());
        note.clear();
        auto index = Index::open_for(store, &note);
        ASSERT_TRUE(index.ok()) << index.error().str();
        EXPECT_EQ(*index->list(), rows);
        EXPECT_NE(note.find("made again"), std::string::npos);
    }
}

// A run that was killed before its last event was indexed is read again.
TEST_F(EventsTest, TheIndexCatchesUp) {
    append("run.started", {{"task", "t"}, {"task_hash", "h"}});
    { ASSERT_TRUE(Index::open_for(store).ok()); }
    append("run.finished", {{"why", "stalled"}});
    auto index = Index::open_for(store);
    ASSERT_TRUE(index.ok());
    EXPECT_EQ(index->list()->at(0).state, "finished");
}

}  // namespace
}  // namespace kernelwright::record
