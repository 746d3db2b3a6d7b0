#include "harness/authors/replay.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "harness/authors/factory.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/authors/author_fixture.h"

namespace kernelwright {
namespace {

const std::string header = R"({"schema":"kernelwright.replay/1","origin":"by hand","task":"t","model":"m"})"
                           "\n";

class Replay : public ::testing::Test {
  protected:
    void write(const std::string& text) const { std::ofstream(file_, std::ios::binary) << text; }
    std::string content() const {
        std::ostringstream text;
        text << std::ifstream(file_, std::ios::binary).rdbuf();
        return text.str();
    }
    TempFolder temp_;
    const std::filesystem::path folder_ = temp_.path(), file_ = folder_ / "talk.jsonl";
};

// Answers from a list; what is not an answer is among them.
class ListAuthor final : public Author {
  public:
    explicit ListAuthor(std::vector<Reply> replies) : replies_(std::move(replies)) {}
    using Author::ask;
    Reply ask(const Prompt&, const AskLimits&, const ProgressCallback&) override {
        return replies_.at(next_++);
    }
    std::string describe() const override { return "list"; }

  private:
    std::vector<Reply> replies_;
    std::size_t next_ = 0;
};

Reply said(const std::string& text, Outcome outcome = Outcome::complete) {
    Reply reply;
    reply.text = text;
    reply.outcome = outcome;
    reply.usage = {100, 60, 10, 20, 5, true};
    reply.finish_reason = "stop";
    reply.model = "m";
    reply.latency = std::chrono::milliseconds(1234);
    if (outcome != Outcome::complete) reply.error.message = "why not";
    return reply;
}

TEST_F(Replay, AnswersInOrderAndThenIsExhausted) {
    write(header +
          R"({"turn":1,"reply":{"text":"one"}})"
          "\n\n" +
          R"({"turn":2,"reply":{"text":"two","outcome":"truncated"}})"
          "\n");
    FakeClock clock;
    auto replay = author("replay:" + file_.string(), {}, clock);
    ASSERT_NE(replay, nullptr);
    EXPECT_EQ(replay->ask(hello()).text, "one");
    EXPECT_EQ(replay->ask(hello()).outcome, Outcome::truncated);
    const Reply third = replay->ask(hello());
    EXPECT_EQ(third.outcome, Outcome::exhausted);
    EXPECT_NE(third.error.str().find("all 2 turns"), std::string::npos) << third.error.str();
    EXPECT_EQ(replay->ask(hello()).outcome, Outcome::exhausted);
    replay->skip_turns(1);
    EXPECT_EQ(replay->ask(hello()).text, "two");
    replay->skip_turns(7);
    EXPECT_EQ(replay->ask(hello()).outcome, Outcome::exhausted);
}

TEST_F(Replay, SaysWhereAFileIsWrong) {
    const auto error = [this](const std::string& text) {
        write(text);
        return read_recording(file_).error().str().substr(file_.string().size());
    };
    EXPECT_EQ(error(""), ": the recording is empty");
    EXPECT_EQ(error("hello\n").substr(0, 24), ":1: not a JSON object (a");
    EXPECT_EQ(error("{}\n").substr(0, 33), ":1: no `schema` in the first line");
    EXPECT_EQ(error(R"({"schema":"kernelwright.replay/9"})").substr(0, 45),
              ":1: unknown schema `kernelwright.replay/9` (a");
    EXPECT_EQ(error(header + R"({"turn":2,"reply":{"text":""}})").substr(0, 25),
              ":2: expected \"turn\": 1 (t");
    EXPECT_EQ(error(header + R"({"turn":1})"
                             "\n"),
              ":2: a turn has no `reply`");
    EXPECT_EQ(error(header + R"({"turn":1,"reply":{}})"
                             "\n"),
              ":2: a reply has no `text`");
    EXPECT_EQ(error(header + R"({"turn":1,"reply":{"text":3}})"
                             "\n"),
              ":2: a reply holds an entry of the wrong kind");
    EXPECT_EQ(error(header + R"({"turn":1,"reply":{"text":"","outcome":"fine"}})"
                             "\n"),
              ":2: unknown outcome `fine`");
    EXPECT_EQ(error(header + R"({"turn":1,"reply":{"text":"","usage":{"input_tokens":-1}}})"
                             "\n"),
              ":2: `usage` holds an entry that is not a token count");
    EXPECT_EQ(error(header + "{\"turn\":1\n{}\n").substr(0, 22), ":2: not a JSON object ");
    FakeClock clock;
    const auto missing = make_author("replay:/nonexistent/file", {}, clock);
    EXPECT_EQ(missing.error().exit_code, 2);
}

TEST_F(Replay, ToleratesATornLastLine) {
    write(header +
          R"({"turn":1,"reply":{"text":"one"}})"
          "\n" +
          R"({"turn":2,"reply":{"te)");
    const auto recording = read_recording(file_);
    ASSERT_TRUE(recording.ok()) << recording.error().str();
    EXPECT_EQ(recording->turns.size(), 1U);
    EXPECT_TRUE(recording->torn);
}

TEST_F(Replay, IsWhatTheRecorderWrote) {
    const std::vector<Reply> replies{said("one \xE2\x82\xAC\n```cuda\n"), said("", Outcome::unreachable),
                                     said("half", Outcome::truncated), said("", Outcome::cancelled)};
    auto recorder =
        Recorder::open(std::make_unique<ListAuthor>(replies), file_, {"a test", "softmax", "m"}).value();
    for (const Reply& reply : replies) {
        const Reply got = recorder->ask(hello());
        EXPECT_EQ(got.text, reply.text);
        EXPECT_TRUE(got.warnings.empty());
    }
    const Recording recording = read_recording(file_).value();
    EXPECT_EQ(recording.header, (ReplayHeader{"a test", "softmax", "m"}));
    ASSERT_EQ(recording.turns.size(), 2U);  // what a model did not say is not a part of the talk
    EXPECT_EQ(to_json(recording.turns[0].reply), to_json(replies[0]));
    EXPECT_EQ(to_json(recording.turns[1].reply), to_json(replies[2]));
    EXPECT_EQ(recording.turns[0].prompt_sha256, prompt_sha256(hello()));

    auto replay = ReplayAuthor::open(file_).value();
    replay->ask(hello());
    EXPECT_EQ(replay->changed_prompts(), 0);
    replay->ask(Prompt{"other", {}});
    EXPECT_EQ(replay->changed_prompts(), 1);
}

TEST_F(Replay, RecorderDoesNotWriteOverATalk) {
    write(header);
    EXPECT_FALSE(Recorder::open(std::make_unique<ListAuthor>(std::vector<Reply>{}), file_, {}).ok());
    EXPECT_EQ(content(), header);
}

TEST_F(Replay, RecorderGoesOnAfterACrash) {
    write(header + turn_line(1, {said("one"), ""}) + "\n" + turn_line(2, {said("two"), ""}) + "\n" +
          R"({"turn":3,"re)");
    const auto open = [this] {
        return Recorder::open(std::make_unique<ListAuthor>(std::vector<Reply>{said("new")}), file_, {}, true)
            .value();
    };
    auto recorder = open();
    recorder->skip_turns(1);  // the run had only finished the first
    recorder->ask(hello());
    const Recording recording = read_recording(file_).value();
    ASSERT_EQ(recording.turns.size(), 2U);
    EXPECT_EQ(recording.turns[1].reply.text, "new");
    EXPECT_FALSE(recording.torn);
    auto again = open();
    again->skip_turns(2);
    again->ask(hello());
    EXPECT_EQ(read_recording(file_).value().turns.size(), 3U);
}

TEST_F(Replay, RecorderTellsOfALostTurn) {
    auto recorder =
        Recorder::open(std::make_unique<ListAuthor>(std::vector<Reply>{said("one")}), file_, {}).value();
    std::filesystem::remove_all(folder_);
    const Reply reply = recorder->ask(hello());
    EXPECT_EQ(reply.text, "one");
    ASSERT_EQ(reply.warnings.size(), 1U);
    EXPECT_NE(reply.warnings[0].find("not in the recording"), std::string::npos);
}

TEST(Outcomes, HaveNamesAndExitCodes) {
    for (int i = 0; i <= static_cast<int>(Outcome::exhausted); ++i) {
        const auto outcome = static_cast<Outcome>(i);
        EXPECT_EQ(parse_outcome(to_string(outcome)), outcome);
    }
    EXPECT_EQ(exit_code(Outcome::unreachable), 3);
    EXPECT_EQ(exit_code(Outcome::unauthorized), 3);
    EXPECT_EQ(exit_code(Outcome::rejected), 2);
    EXPECT_EQ(exit_code(Outcome::cancelled), 130);
    EXPECT_EQ(exit_code(Outcome::truncated), std::nullopt);
    EXPECT_EQ(exit_code(Outcome::exhausted), std::nullopt);
}

TEST(Prompts, HaveOneHash) {
    EXPECT_EQ(prompt_sha256(hello()), prompt_sha256(hello()));
    Prompt other = hello();
    other.messages[0].role = Role::assistant;
    EXPECT_NE(prompt_sha256(hello()), prompt_sha256(other));
    EXPECT_EQ(prompt_sha256({"\xff", {}}).size(), 64U);  // bad UTF-8 does no harm
}

}  // namespace
}  // namespace kernelwright
