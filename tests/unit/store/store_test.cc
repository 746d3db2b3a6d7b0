#include "harness/store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "harness/core/files.h"
#include "harness/core/hash.h"
#include "tests/unit/store/temp_store.h"

namespace kernelwright::record {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class StoreTest : public ::testing::Test {
  protected:
    std::unique_ptr<RunWriter> create() {
        auto run = store.create("softmax_rows");
        EXPECT_TRUE(run.ok()) << run.error().str();
        return std::move(*run);
    }
    // A run that has begun and been let go.
    std::string begun() {
        const auto run = create();
        EXPECT_TRUE(run->append("run.started", {{"task", "softmax_rows"}, {"task_hash", "h"}}).ok());
        return run->id();
    }
    fs::path events(const std::string& id) { return store.folder(id) / "events.jsonl"; }
    void append_raw(const std::string& id, const std::string& bytes) {
        std::ofstream(events(id), std::ios::app | std::ios::binary) << bytes;
    }

    MemoryFolder temp;
    StillClock clock;
    Store store{temp.path() / "results", clock};
};

TEST_F(StoreTest, IdsSortByTimeAndNameTheTask) {
    const std::string first = begun();
    clock.elapsed += std::chrono::seconds(1);
    const std::string second = begun();
    EXPECT_TRUE(first.starts_with("20260131-120000-softmax_rows-")) << first;
    EXPECT_LT(first, second);
    EXPECT_EQ(store.ids(), (std::vector<std::string>{first, second}));
    EXPECT_NE(create()->id(), second) << "two runs of one second have two names";
}

TEST_F(StoreTest, EventsCarrySchemaSeqAndTime) {
    auto run = create();
    ASSERT_TRUE(run->append("run.note", {{"note", "one"}}).ok());
    clock.elapsed += std::chrono::milliseconds(1500);
    ASSERT_TRUE(run->append("run.note", {{"note", "two"}}).ok());
    const auto log = read_events(events(run->id()));
    ASSERT_TRUE(log.ok());
    ASSERT_EQ(log->events.size(), 2U);
    EXPECT_EQ(log->events[1].dump(),
              R"({"schema":"kernelwright.run/1","seq":2,"time":"2026-01-31T12:00:01.500Z","run":")" +
                  run->id() + R"(","event":"run.note","note":"two"})");
}

TEST_F(StoreTest, TextThatIsNotUtf8IsStillRecorded) {
    auto run = create();
    ASSERT_TRUE(run->append("run.note", {{"note", "a\xff\n\x01z"}}).ok());
    const auto log = read_events(events(run->id()));
    ASSERT_TRUE(log.ok()) << log.error().str();
    ASSERT_EQ(log->events.size(), 1U);
    EXPECT_THAT(log->events[0]["note"].get<std::string>(), HasSubstr("z"));
}

TEST_F(StoreTest, ArtifactsAreNamedByTheirContent) {
    auto run = create();
    ASSERT_TRUE(run->append("run.note", {{"note", "begun"}}).ok());
    const std::string text = std::string("a\0b", 3) + "\xff";
    const auto hash = run->put(text);
    ASSERT_TRUE(hash.ok());
    EXPECT_EQ(*hash, sha256_hex(text));
    EXPECT_EQ(*run->put(text), *hash);
    EXPECT_EQ(*run->get(*hash), text);
    EXPECT_EQ(*store.artifact(run->id(), *hash), text);
    EXPECT_FALSE(run->get("../events.jsonl").ok()) << "only hashes name artifacts";
    EXPECT_FALSE(store.artifact(run->id(), "../events.jsonl").ok());
}

// An artifact that was cut off or edited is never taken for what the run stored; stored again, it is mended.
TEST_F(StoreTest, ADamagedArtifactIsFoundAndNamed) {
    auto run = create();
    const auto hash = run->put("the whole text");
    ASSERT_TRUE(hash.ok());
    ASSERT_TRUE(run->append("run.note", {{"note", "begun"}}).ok());
    const fs::path file = run->folder() / "artifacts" / *hash;
    for (const char* content : {"the whole", "the whole texT", ""}) {
        std::ofstream(file) << content;
        for (const auto& got : {run->get(*hash), store.artifact(run->id(), *hash)}) {
            ASSERT_FALSE(got.ok()) << content;
            EXPECT_EQ(got.error().file, file.string());
            EXPECT_THAT(got.error().str(), HasSubstr("SHA-256"));
        }
        EXPECT_EQ(*run->put("the whole text"), *hash);
        EXPECT_EQ(*run->get(*hash), "the whole text");
    }
    fs::remove(file);
    EXPECT_FALSE(run->get(*hash).ok());
}

// Before its first event a run cannot be seen; one that is ended there leaves nothing behind.
TEST_F(StoreTest, ARunAppearsWithItsFirstEvent) {
    auto run = create();
    ASSERT_TRUE(run->put("text").ok());
    EXPECT_TRUE(store.ids().empty());
    EXPECT_FALSE(store.resolve("last").ok());
    ASSERT_TRUE(run->append("run.started", {{"task", "t"}, {"task_hash", "h"}}).ok());
    EXPECT_EQ(store.ids(), std::vector<std::string>{run->id()});
    EXPECT_EQ(run->folder(), store.folder(run->id()));
    EXPECT_TRUE(run->append("run.note", {{"note", "still writable"}}).ok());
    EXPECT_EQ(store.load(run->id())->notes.size(), 1U);

    create().reset();
    const auto leftovers = [&] {
        int count = 0;
        for (const auto& entry : fs::directory_iterator(store.root() / "runs"))
            count += entry.path().filename().string().starts_with(".new-") ? 1 : 0;
        return count;
    };
    EXPECT_EQ(leftovers(), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        auto killed = store.create("t");
        ::raise(SIGKILL);
    }
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(leftovers(), 1);
    EXPECT_EQ(store.ids().size(), 1U) << "it cannot be seen";
    const auto young = create();
    EXPECT_EQ(leftovers(), 2) << "it could still be about to begin";
    for (const auto& entry : fs::directory_iterator(store.root() / "runs"))
        fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
    const auto later = create();
    EXPECT_EQ(leftovers(), 2) << "the killed one's is gone, those that are held are not";
}

TEST_F(StoreTest, LinesThatAreMissingOrDoubledAreFound) {
    std::string id;
    {
        auto run = create();
        id = run->id();
        for (const char* note : {"one", "two", "three"})
            ASSERT_TRUE(run->append("run.note", {{"note", note}}).ok());
    }
    const std::string whole = *read_file(events(id));
    const std::size_t first = whole.find('\n') + 1, second = whole.find('\n', first) + 1;
    for (const std::string& edited :
         {whole.substr(0, first) + whole.substr(second), whole.substr(0, second) + whole.substr(first)}) {
        ASSERT_TRUE(write_file_atomic(events(id), edited).ok());
        const auto log = read_events(events(id));
        ASSERT_FALSE(log.ok());
        EXPECT_EQ(log.error().line, edited.size() < whole.size() ? 2 : 3);
        EXPECT_THAT(log.error().str(), HasSubstr("missing or doubled"));
    }
}

TEST_F(StoreTest, ARecordWithOddTypesIsAnError) {
    const std::string id = begun();
    const std::string good = *read_file(events(id));
    for (const char* line : {R"({"schema":5,"event":"run.note","seq":2})",
                             R"({"schema":"kernelwright.run/1","event":7,"seq":2})",
                             R"({"schema":"kernelwright.run/1","event":"run.note","seq":"2"})",
                             R"({"schema":"kernelwright.run/1","event":"run.note"})", "[]", "null", "{}"}) {
        ASSERT_TRUE(write_file_atomic(events(id), good + line + "\n" + line + "\n").ok());
        const auto log = read_events(events(id));
        ASSERT_FALSE(log.ok()) << line;
        EXPECT_EQ(log.error().line, 2) << line;
    }
    std::ofstream(events(id)) << "";
    EXPECT_THAT(store.load(id).error().str(), HasSubstr("ended before it began"));
    std::ofstream(store.folder(id) / "lock") << R"({"pid":1,"host":"elsewhere","start":5,"time":[]})";
    EXPECT_FALSE(store.open(id).ok());
}

// A crash while an event is written leaves a part of it: wherever it is cut, the events before it survive and
// the log can be appended to.
TEST_F(StoreTest, ATornLastLineIsDroppedWhereverItIsCut) {
    std::string whole;
    std::string id;
    {
        auto run = create();
        id = run->id();
        ASSERT_TRUE(run->append("run.note", {{"note", "kept"}}).ok());
        ASSERT_TRUE(run->append("run.note", {{"note", "cut \" here"}}).ok());
        whole = *read_file(events(id));
    }
    const std::size_t first = whole.find('\n') + 1;
    for (std::size_t cut = first; cut < whole.size(); ++cut) {
        ASSERT_TRUE(write_file_atomic(events(id), whole.substr(0, cut)).ok());
        const auto seen = read_events(events(id));
        ASSERT_TRUE(seen.ok());
        ASSERT_EQ(seen->events.size(), 1U) << cut;
        ASSERT_EQ(seen->torn_bytes, cut - first);
        auto run = store.open(id);
        ASSERT_TRUE(run.ok()) << run.error().str();
        ASSERT_TRUE((*run)->append("run.note", {{"note", "after"}}).ok());
        const auto log = read_events(events(id));
        ASSERT_TRUE(log.ok()) << log.error().str();
        ASSERT_EQ(log->torn_bytes, 0U);
        ASSERT_EQ(log->events.front()["note"], "kept");
        ASSERT_EQ(log->events.back()["note"], "after");
        for (std::size_t i = 0; i < log->events.size(); ++i) ASSERT_EQ(log->events[i]["seq"], i + 1);
    }
}

TEST_F(StoreTest, ALastLineOfZerosIsTorn) {
    const std::string id = [&] {
        auto run = create();
        EXPECT_TRUE(run->append("run.note", {{"note", "kept"}}).ok());
        return run->id();
    }();
    append_raw(id, std::string(16, '\0') + "\n");
    const auto log = read_events(events(id));
    ASSERT_TRUE(log.ok());
    EXPECT_EQ(log->events.size(), 1U);
    EXPECT_EQ(log->torn_bytes, 17U);
    EXPECT_TRUE(store.open(id).ok());
}

TEST_F(StoreTest, ABrokenLineInTheMiddleIsAnErrorWithItsLine) {
    const std::string id = [&] {
        auto run = create();
        EXPECT_TRUE(run->append("run.note", {{"note", "one"}}).ok());
        return run->id();
    }();
    append_raw(id, "{broken\n{\"schema\":\"kernelwright.run/1\",\"event\":\"run.note\"}\n");
    const auto log = read_events(events(id));
    ASSERT_FALSE(log.ok());
    EXPECT_EQ(log.error().line, 2);
    EXPECT_FALSE(store.open(id).ok());
    EXPECT_FALSE(store.load(id).ok());
}

TEST_F(StoreTest, AnotherSchemaIsRefused) {
    const std::string id = begun();
    append_raw(id, "{\"schema\":\"kernelwright.run/9\",\"event\":\"run.note\"}\n");
    const auto log = read_events(events(id));
    ASSERT_FALSE(log.ok());
    EXPECT_THAT(log.error().message, HasSubstr("kernelwright.run/9"));
}

TEST_F(StoreTest, OneWriterAtATime) {
    auto run = create();
    ASSERT_TRUE(run->append("run.note", {{"note", "begun"}}).ok());
    const auto second = store.open(run->id());
    ASSERT_FALSE(second.ok());
    EXPECT_THAT(second.error().message, HasSubstr("process " + std::to_string(::getpid())));
    const std::string id = run->id();
    run.reset();
    EXPECT_TRUE(store.open(id).ok()) << "given back";
}

TEST_F(StoreTest, AKilledHoldersLockIsTakenOver) {
    const std::string id = begun();
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        auto held = store.open(id);
        const char ok = held.ok() ? 'y' : 'n';
        if (::write(ready[1], &ok, 1) != 1) ::_exit(1);
        ::pause();
        ::_exit(0);
    }
    char ok = 0;
    ASSERT_EQ(::read(ready[0], &ok, 1), 1);
    ASSERT_EQ(ok, 'y');
    EXPECT_FALSE(store.open(id).ok()) << "held by a living process";
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(store.open(id).ok());
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_F(StoreTest, ALockOfAnotherHostIsNotTakenOver) {
    const std::string id = begun();
    std::ofstream(store.folder(id) / "lock") << R"({"pid":1,"host":"elsewhere.example","start":"5"})";
    const auto run = store.open(id);
    ASSERT_FALSE(run.ok());
    EXPECT_THAT(run.error().str(), HasSubstr("elsewhere.example"));
    EXPECT_THAT(run.error().str(), HasSubstr("remove the lock file"));
}

TEST_F(StoreTest, ARecycledPidIsNotTheHolder) {
    const std::string id = begun();
    char host[256] = {};
    ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
    const Json stale{{"pid", ::getppid()}, {"host", host}, {"start", "1"}};
    std::ofstream(store.folder(id) / "lock") << stale.dump();
    EXPECT_TRUE(store.open(id).ok()) << "same pid, another start time";
}

TEST_F(StoreTest, NamesOfRuns) {
    EXPECT_FALSE(store.resolve("last").ok());
    const std::string first = begun();
    clock.elapsed += std::chrono::hours(24);
    const std::string second = begun();
    EXPECT_EQ(*store.resolve("last"), second);
    EXPECT_EQ(*store.resolve(first), first);
    EXPECT_EQ(*store.resolve(first.substr(0, 15)), first);
    EXPECT_EQ(*store.resolve(first.substr(first.size() - 6)), first);
    EXPECT_EQ(*store.resolve(store.folder(first).string()), first);
    EXPECT_EQ(*store.resolve(store.folder(first).string() + "/"), first);
    EXPECT_THAT(store.resolve("2026").error().str(), HasSubstr("any of 2 runs"));
    EXPECT_THAT(store.resolve("nothing").error().str(), HasSubstr("there is no run"));
    EXPECT_FALSE(store.open("../x").ok());
    EXPECT_FALSE(store.open("").ok());
}

}  // namespace
}  // namespace kernelwright::record
