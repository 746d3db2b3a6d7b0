// Both protocols against aimock: an endpoint written by somebody else, with its own idea of the wire forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "harness/authors/answer.h"
#include "harness/authors/factory.h"
#include "harness/authors/replay.h"
#include "harness/core/files.h"
#include "tests/aimock/aimock_server.h"
#include "tests/support/temp_folder.h"

namespace kernelwright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string key = "sk-aimock-0123456789abcdef";

AimockServer* running = nullptr;  // owned by main()

class StandingClock final : public Clock {
  public:
    std::chrono::steady_clock::time_point now() const override { return std::chrono::steady_clock::now(); }
    std::chrono::system_clock::time_point wall() const override { return std::chrono::system_clock::now(); }
    void sleep_for(std::chrono::milliseconds duration) override { slept += duration; }
    std::chrono::milliseconds slept{0};
};

std::string http_get(const std::string& path) {
    std::string body;
    HttpRequest request;
    request.url = running->url() + path;
    request.get = true;
    http_exchange(request, HttpLimits{}, std::stop_token{},
                  [&body](const HttpResponse&, std::string_view bytes) {
                      body += bytes;
                      return true;
                  });
    return body;
}

// Each test is run once for each protocol.
class Aimock : public ::testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        AuthorConfig config;
        config.model = "test-model";
        config.jitter_seed = 1;
        config.environment = [](const std::string& name) -> std::optional<std::string> {
            const std::string wanted = name;
            if (wanted == "OPENAI_BASE_URL") return running->url() + "/v1";
            if (wanted == "ANTHROPIC_BASE_URL") return running->url();
            if (wanted == "OPENAI_API_KEY" || wanted == "ANTHROPIC_API_KEY") return key;
            return std::nullopt;
        };
        auto made = make_author(GetParam(), config, clock_);
        ASSERT_TRUE(made.ok()) << made.error().error.str();
        author_ = std::move(made).value();
    }

    Reply ask(const std::string& scenario) {
        Reply reply = author_->ask({"You write CUDA.", {{Role::user, scenario + ", " + GetParam()}}});
        EXPECT_THAT(to_json(reply).dump(), Not(HasSubstr(key)));
        return reply;
    }

    StandingClock clock_;
    std::unique_ptr<Author> author_;
};

TEST_P(Aimock, Complete) {
    const Reply reply = ask("complete");
    ASSERT_EQ(reply.outcome, Outcome::complete) << reply.error.str();
    EXPECT_EQ(reply.attempts, 1);
    EXPECT_TRUE(reply.usage.reported);
    EXPECT_EQ(reply.usage.input_tokens, 1200);
    EXPECT_EQ(reply.usage.output_tokens, 80);
    EXPECT_NE(reply.request_id, "");
    const Answer answer = extract_answer(reply);
    EXPECT_EQ(answer.kind, Answer::Kind::candidate) << answer.message;
    EXPECT_THAT(answer.source, HasSubstr("extern \"C\" __global__ void k("));
    EXPECT_THAT(answer.plan_text, HasSubstr("One block a row"));
}

TEST_P(Aimock, Truncated) {
    const Reply reply = ask("truncated");
    EXPECT_EQ(reply.outcome, Outcome::truncated) << reply.error.str();
    EXPECT_THAT(reply.text, HasSubstr("__global__"));
    EXPECT_EQ(extract_answer(reply).kind, Answer::Kind::partial);
}

TEST_P(Aimock, Reasoning) {
    const Reply reply = ask("reasoning");
    ASSERT_EQ(reply.outcome, Outcome::complete) << reply.error.str();
    EXPECT_EQ(reply.text, "The answer.");
    EXPECT_EQ(reply.reasoning, "Rows are short, so a warp a row.");
}

TEST_P(Aimock, WaitsAndTriesAgain) {
    const Reply reply = ask("wait once");
    ASSERT_EQ(reply.outcome, Outcome::complete) << reply.error.str();
    EXPECT_EQ(reply.text, "Thank you for waiting.");
    EXPECT_EQ(reply.attempts, 2);
    EXPECT_EQ(clock_.slept, std::chrono::seconds(7));  // as its Retry-After says
}

TEST_P(Aimock, Overloaded) {
    const Reply reply = ask("overloaded");
    EXPECT_EQ(reply.outcome, Outcome::endpoint_error);
    EXPECT_EQ(reply.attempts, 3);
    EXPECT_THAT(reply.error.message, HasSubstr("529"));
    EXPECT_THAT(reply.error.message, HasSubstr("Overloaded"));
}

TEST_P(Aimock, CutStream) {
    const Reply reply = ask("cut");
    EXPECT_EQ(reply.outcome, Outcome::broken_stream) << reply.error.str();
    EXPECT_FALSE(reply.text.empty());
    EXPECT_TRUE(
        std::string("This answer is long enough for several chunks").starts_with(reply.text.substr(0, 20)));
    EXPECT_EQ(reply.attempts, 1);
    EXPECT_FALSE(reply.usage.reported);
}

TEST_P(Aimock, BadKey) {
    const Reply reply = ask("bad key");
    EXPECT_EQ(reply.outcome, Outcome::unauthorized);
    EXPECT_EQ(reply.attempts, 1);
    EXPECT_THAT(reply.error.hint, HasSubstr("_API_KEY"));
}

TEST_P(Aimock, Quota) {
    const Reply reply = ask("quota");
    EXPECT_EQ(reply.outcome, Outcome::quota_exhausted);
    EXPECT_EQ(reply.attempts, 1);
    EXPECT_EQ(clock_.slept.count(), 0);
}

TEST_P(Aimock, UnknownRequestIsRejected) {
    const Reply reply = ask("something that no fixture matches");
    EXPECT_NE(reply.outcome, Outcome::complete);
    EXPECT_THAT(reply.error.message, HasSubstr("fixture"));
}

TEST_P(Aimock, SendsTheWholeConversation) {
    const Reply reply = author_->ask({"The unchanging system text.",
                                      {{Role::user, "first turn"},
                                       {Role::assistant, "an earlier answer"},
                                       {Role::user, "second turn, " + GetParam()}}});
    ASSERT_EQ(reply.outcome, Outcome::complete) << reply.error.str();
    EXPECT_EQ(reply.text, "Turn two.");
    const std::string journal = http_get("/__aimock/journal");
    EXPECT_THAT(journal, HasSubstr("The unchanging system text."));
    EXPECT_THAT(journal, HasSubstr("an earlier answer"));
}

TEST_P(Aimock, AnswersAProbe) {
    AuthorConfig config;
    config.environment = [](const std::string& name) -> std::optional<std::string> {
        const std::string wanted = name;
        if (wanted == "OPENAI_BASE_URL") return running->url() + "/v1";
        if (wanted == "ANTHROPIC_BASE_URL") return running->url();
        return std::nullopt;
    };
    for (const auto& facts : endpoint_facts(config, true)) {
        if (facts.protocol != GetParam()) continue;
        ASSERT_TRUE(facts.probe.has_value());
        EXPECT_TRUE(facts.probe->reachable) << facts.probe->message;
    }
}

TEST_P(Aimock, RecordsAndReplaysTheSameConversation) {
    const TempFolder folder;
    const std::string file = (folder.path() / "talk.jsonl").string();
    auto recorder =
        Recorder::open(std::move(author_), file, {"aimock's fixtures", "none", "test-model"}).value();
    std::vector<Reply> said;
    for (const char* scenario : {"complete", "truncated", "reasoning"}) {
        said.push_back(
            recorder->ask({"You write CUDA.", {{Role::user, std::string(scenario) + ", " + GetParam()}}}));
    }
    EXPECT_THAT(read_file(file).value(), Not(HasSubstr(key)));
    auto replay = ReplayAuthor::open(file).value();
    for (const Reply& reply : said) EXPECT_EQ(to_json(replay->ask(Prompt{})), to_json(reply));
    EXPECT_EQ(replay->ask(Prompt{}).outcome, Outcome::exhausted);
}

INSTANTIATE_TEST_SUITE_P(Protocols, Aimock, ::testing::Values("openai", "anthropic"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kernelwright

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    bool absent = false;
    auto server = kernelwright::AimockServer::start(std::string(KW_SOURCE_DIR) + "/tests/aimock", absent);
    if (!server) {
        std::printf("%s: %s\n", absent ? "skipped" : "failed", server.error().str().c_str());
        return absent ? 77 : 1;
    }
    kernelwright::running = server->get();
    return RUN_ALL_TESTS();
}
