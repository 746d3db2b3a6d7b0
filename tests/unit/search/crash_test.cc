// A run is ended, by _exit in a child process, after its k-th event, for every k; in the middle of an ask and
// of an evaluation; with its last event torn. Gone on with, it must come to what it would have come to, ask
// for nothing whose answer it has, and judge nothing whose verdict it has.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "harness/core/files.h"
#include "tests/unit/search/fakes.h"

namespace kernelwright::search {
namespace {

namespace fs = std::filesystem;

constexpr int died = 77;

std::vector<Reply> conversation() {
    return {answer("naive", candidate("fail compile nvrtc 5")),
            reply_of("no code at all"),
            answer("tiles", candidate("fail sanitize shared-race 8")),
            answer("tiles, barrier", candidate("pass 4e-5")),
            answer("float4", candidate("fail sanitize misaligned 8"), "load.vectorise"),
            answer("float4, tail", candidate("pass 2e-5")),
            answer("again", candidate("pass 2e-5")),
            answer("two rows", candidate("pass 1e-5"), "load.vectorise")};
}

class EndAfter final : public record::EventObserver {
  public:
    explicit EndAfter(int events) : left_(events) {}
    void appended(const Json&) override {
        if (--left_ == 0) ::_exit(died);
    }

  private:
    int left_;
};

struct Crash {
    int after_events = 0;  // of this sitting; 0: never
    int at_ask = 0, at_evaluation = 0;
};

class CrashTest : public ::testing::Test {
  protected:
    // One sitting in a process of its own; true when it came to its end.
    bool sit(const record::Store& store, const Crash& crash) {
        const pid_t child = ::fork();
        EXPECT_GE(child, 0);
        if (child == 0) ::_exit(sitting(store, crash));
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_TRUE(WIFEXITED(status));
        EXPECT_TRUE(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == died) << WEXITSTATUS(status);
        return WEXITSTATUS(status) == 0;
    }

    int sitting(const record::Store& given, const Crash& crash) {
        record::Store store(given.root(), clock);
        const auto ids = store.ids();
        auto run = ids.empty() ? store.create("softmax_rows") : store.open(ids.front());
        if (!run.ok()) return 2;
        FakeAuthor author(conversation(), store.root() / "asks.log");
        FakeEvaluator evaluator(store.root() / "evaluations.log");
        FakeSkills skills(store.root() / "evidence.jsonl");
        int asks = 0;
        author.on_ask = [&] {
            if (++asks == crash.at_ask) ::_exit(died);
        };
        evaluator.on_evaluate = [&] {
            if (evaluator.calls == crash.at_evaluation) ::_exit(died);
        };
        EndAfter end(crash.after_events);
        if (crash.after_events > 0) (*run)->observe(&end);
        SearchParts parts;
        parts.task = &task;
        parts.device = a100();
        parts.author = &author;
        parts.evaluator = &evaluator;
        parts.skills = &skills;
        parts.run = run->get();
        parts.clock = &clock;
        const SearchOutcome outcome = run_search(parts, {});
        return outcome.why == "author exhausted" ? 0 : 3;
    }

    record::Run load(const record::Store& store) {
        const auto run = store.load(store.ids().front());
        EXPECT_TRUE(run.ok()) << run.error().str();
        return run.ok() ? *run : record::Run{};
    }

    std::map<std::string, int> counted(const fs::path& log) {
        std::map<std::string, int> counts;
        for (const std::string& line : lines_of(log)) ++counts[line];
        return counts;
    }

    // Everything of a run that does not depend on when it happened.
    void expect_same(const record::Store& store, const record::Run& expected, const std::string& where) {
        const record::Run run = load(store);
        EXPECT_EQ(run.attempts, expected.attempts) << where;
        EXPECT_EQ(run.turns.size(), expected.turns.size()) << where;
        EXPECT_EQ(run.evidence.size(), expected.evidence.size()) << where;
        EXPECT_EQ(lines_of(store.root() / "evidence.jsonl").size(), expected.evidence.size()) << where;
        EXPECT_EQ(run.state, "finished") << where;
        EXPECT_EQ(run.usage(), expected.usage()) << where;
        EXPECT_TRUE(fs::exists(store.folder(run.id) / "winner.cu") || expected.best() == nullptr) << where;
    }

    record::Store store_at(const std::string& name) { return {temp.path() / name, clock}; }

    record::MemoryFolder temp;
    record::StillClock clock;
    Task task = softmax_task();
};

TEST_F(CrashTest, AfterEveryEvent) {
    const record::Store whole = store_at("whole");
    ASSERT_TRUE(sit(whole, {}));
    const record::Run expected = load(whole);
    ASSERT_EQ(expected.attempts.size(), 8U);
    ASSERT_FALSE(expected.evidence.empty());
    const auto log = record::read_events(whole.folder(expected.id) / "events.jsonl");
    const int events = static_cast<int>(log->events.size());
    ASSERT_GT(events, 30);
    for (int k = 1; k < events; ++k) {
        const record::Store store = store_at("k" + std::to_string(k));
        const std::string where = "ended after event " + std::to_string(k);
        ASSERT_FALSE(sit(store, {k, 0, 0})) << where;
        ASSERT_TRUE(sit(store, {})) << where;
        expect_same(store, expected, where);
        for (const auto& [source, count] : counted(store.root() / "evaluations.log")) {
            EXPECT_EQ(count, 1) << where << ": judged twice: " << source;
        }
        for (const auto& [turn, count] : counted(store.root() / "asks.log")) {
            // The ask past the conversation's end has no answer to record, so both sittings make it.
            EXPECT_LE(count, turn == "8" ? 2 : 1) << where << ": asked twice: " << turn;
        }
    }
}

TEST_F(CrashTest, AfterEachEventOfEverySitting) {
    const record::Store whole = store_at("whole");
    ASSERT_TRUE(sit(whole, {}));
    const record::Run expected = load(whole);
    // Each sitting gets to write its run.resumed and one or two events more.
    for (const int each : {2, 3}) {
        const record::Store store = store_at("each" + std::to_string(each));
        int sittings = 1;
        // A sitting that is ended right after its last event has come to the end as well.
        while (!sit(store, {each, 0, 0}) && load(store).state != "finished") ASSERT_LT(++sittings, 200);
        expect_same(store, expected, "every sitting ended after " + std::to_string(each));
        EXPECT_GT(sittings, 10);
        for (const auto& [source, count] : counted(store.root() / "evaluations.log"))
            EXPECT_EQ(count, 1) << source;
    }
}

TEST_F(CrashTest, InTheMiddleOfAnAskOrAnEvaluation) {
    const record::Store whole = store_at("whole");
    ASSERT_TRUE(sit(whole, {}));
    const record::Run expected = load(whole);
    for (int n = 1; n <= 6; ++n) {
        const record::Store asking = store_at("ask" + std::to_string(n));
        ASSERT_FALSE(sit(asking, {0, n, 0}));
        ASSERT_TRUE(sit(asking, {}));
        expect_same(asking, expected, "ended in ask " + std::to_string(n));
        for (const auto& [source, count] : counted(asking.root() / "evaluations.log"))
            EXPECT_EQ(count, 1) << source;

        const record::Store judging = store_at("evaluation" + std::to_string(n));
        ASSERT_FALSE(sit(judging, {0, 0, n}));
        ASSERT_TRUE(sit(judging, {}));
        expect_same(judging, expected, "ended in evaluation " + std::to_string(n));
        int twice = 0;
        for (const auto& [source, count] : counted(judging.root() / "evaluations.log")) twice += count - 1;
        EXPECT_EQ(twice, 1) << "only the one that was not finished";
        for (const auto& [turn, count] : counted(judging.root() / "asks.log")) EXPECT_EQ(count, 1) << turn;
    }
}

TEST_F(CrashTest, WithTheLastEventTorn) {
    const record::Store whole = store_at("whole");
    ASSERT_TRUE(sit(whole, {}));
    const record::Run expected = load(whole);
    for (int k = 2; k < 30; k += 3) {
        const record::Store store = store_at("torn" + std::to_string(k));
        ASSERT_FALSE(sit(store, {k, 0, 0}));
        const fs::path file = store.folder(store.ids().front()) / "events.jsonl";
        const std::string text = *read_file(file);
        fs::resize_file(file, text.size() - static_cast<std::size_t>(1 + k % 7));
        const record::Run before = load(store);
        ASSERT_TRUE(sit(store, {}));
        expect_same(store, expected, "event " + std::to_string(k) + " torn");
        const record::Run after = load(store);
        for (std::size_t i = 0; i < before.attempts.size(); ++i) {
            if (before.attempts[i].finished) {
                EXPECT_EQ(before.attempts[i], after.attempts[i]);
            }
        }
        EXPECT_EQ(after.notes.size(), 1U) << "the repair is noted";
    }
}

}  // namespace
}  // namespace kernelwright::search
