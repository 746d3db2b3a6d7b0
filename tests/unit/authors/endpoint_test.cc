// Whole asks against a server that says what it was told to, byte for byte, and breaks where it was told to.
#include "harness/authors/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/unit/authors/author_fixture.h"

namespace kernelwright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using End = Script::End;

std::string chunk(const std::string& words) {
    return R"(data: {"id":"c","model":"m-1","choices":[{"index":0,"delta":{"content":")" + words +
           "\"}}]}\n\n";
}
const std::string finish = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const std::string usage =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":70,\"completion_tokens\":9,"
    "\"prompt_tokens_details\":{\"cached_tokens\":64}}}\n\n";
const std::string done = "data: [DONE]\n\n";
const std::string whole = chunk("Hel") + chunk("lo \xE2\x82\xAC") + finish + usage + done;

Script response(int status, const std::string& headers, const std::string& body) {
    return {{http_response(status, headers, body)}, End::close};
}

struct Asked {
    Reply reply;
    std::vector<std::string> requests;
    std::chrono::milliseconds slept;
};

Asked ask(std::vector<Script> scripts, const std::string& spec = "openai",
          const std::function<void(AuthorConfig&)>& change = {}, const AskLimits& limits = {}) {
    ScriptedServer server(std::move(scripts));
    AuthorConfig config = test_config(server.url());
    if (change) change(config);
    FakeClock clock;
    auto maker = author(spec, config, clock);
    Asked asked{maker->ask(hello(), limits, {}), server.requests(), clock.slept};
    EXPECT_THAT(shown(asked.reply), Not(HasSubstr(secret_key)));
    EXPECT_THAT(maker->describe(), Not(HasSubstr(secret_key)));
    return asked;
}

TEST(Endpoint, ReadsAWholeAnswer) {
    const Asked asked = ask({stream(whole, "X-Request-Id: req-1\r\n")});
    EXPECT_EQ(asked.reply.outcome, Outcome::complete) << asked.reply.error.str();
    EXPECT_EQ(asked.reply.text, "Hello \xE2\x82\xAC");
    EXPECT_EQ(asked.reply.usage, (Usage{70, 64, 0, 9, 0, true}));
    EXPECT_EQ(asked.reply.request_id, "req-1");
    EXPECT_EQ(asked.reply.model, "m-1");
    EXPECT_EQ(asked.reply.finish_reason, "stop");
    EXPECT_EQ(asked.reply.attempts, 1);
    EXPECT_EQ(asked.reply.error.message, "");
    ASSERT_EQ(asked.requests.size(), 1U);
    EXPECT_THAT(asked.requests[0], HasSubstr("POST /v1/chat/completions HTTP/1.1"));
    EXPECT_THAT(asked.requests[0], HasSubstr("Authorization: Bearer " + secret_key));
    EXPECT_THAT(asked.requests[0], HasSubstr("\"max_tokens\":16384"));
}

TEST(Endpoint, DoesNotCareWhereTheBytesAreCut) {
    EXPECT_EQ(ask({{bytes_of(stream_head() + whole), End::close}}).reply.text, "Hello \xE2\x82\xAC");
    std::string carriage = whole;
    for (std::size_t at = carriage.find('\n'); at != std::string::npos; at = carriage.find('\n', at + 2))
        carriage.replace(at, 1, "\r\n");
    EXPECT_EQ(ask({stream("\xEF\xBB\xBF: hello\r\n\r\n" + carriage)}).reply.text, "Hello \xE2\x82\xAC");
}

TEST(Endpoint, StopsReadingAtTheEndOfTheAnswer) {
    // The server keeps the connection open after [DONE]: the answer is there at once all the same.
    const auto start = std::chrono::steady_clock::now();
    const Asked asked = ask({{{stream_head() + whole}, End::hang}});
    EXPECT_EQ(asked.reply.outcome, Outcome::complete);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
}

TEST(Endpoint, TakesFinishReasonForAnEndWithoutDone) {
    EXPECT_EQ(ask({stream(chunk("x") + finish)}).reply.outcome, Outcome::complete);
    EXPECT_EQ(ask({stream(chunk("x") + finish.substr(0, finish.size() - 2))}).reply.outcome,
              Outcome::complete);
}

TEST(Endpoint, CallsAnEndWithoutATerminalEventBroken) {
    const Asked asked = ask({stream(chunk("half"))});
    EXPECT_EQ(asked.reply.outcome, Outcome::broken_stream);
    EXPECT_EQ(asked.reply.text, "half");
    EXPECT_FALSE(asked.reply.usage.reported);
    EXPECT_EQ(asked.requests.size(), 1U);  // half an answer was paid for: the caller decides
    // Fewer bytes than were promised; a reset; an event cut in the middle
    EXPECT_EQ(ask({{{stream_head(100000) + chunk("half")}, End::close}}).reply.outcome,
              Outcome::broken_stream);
    EXPECT_EQ(ask({{{stream_head() + chunk("half")}, End::reset}}).reply.outcome, Outcome::broken_stream);
    EXPECT_EQ(ask({stream(chunk("half") + chunk("more").substr(0, 40))}).reply.outcome,
              Outcome::broken_stream);
    // Some servers count along in every event: those are not the final numbers
    const Reply counted = ask({stream(chunk("half") + usage)}).reply;
    EXPECT_EQ(counted.usage.output_tokens, 9);
    EXPECT_FALSE(counted.usage.reported);
    // An event that cannot be read is a hole in the answer, whatever follows
    const Reply hole = ask({stream(chunk("a") + "data: {\"choi\n\n" + chunk("b") + finish + done)}).reply;
    EXPECT_EQ(hole.outcome, Outcome::broken_stream);
    EXPECT_EQ(hole.text, "a");
}

TEST(Endpoint, TriesAgainWhereNothingHadCome) {
    const Asked asked = ask({{{}, End::close}, {{stream_head()}, End::reset}, stream(whole)});
    EXPECT_EQ(asked.reply.outcome, Outcome::complete) << asked.reply.error.str();
    EXPECT_EQ(asked.reply.attempts, 3);
    EXPECT_EQ(asked.requests.size(), 3U);
    EXPECT_EQ(asked.requests[0], asked.requests[2]);
    EXPECT_GE(asked.slept.count(), 1125);  // 500 and 1000, less up to a quarter
    EXPECT_LE(asked.slept.count(), 1500);
}

TEST(Endpoint, GivesUpAfterTwoRetries) {
    const Asked asked = ask({{{}, End::close}, {{}, End::close}, {{}, End::close}, stream(whole)});
    EXPECT_EQ(asked.reply.outcome, Outcome::broken_stream);
    EXPECT_EQ(asked.reply.attempts, 3);
    EXPECT_THAT(asked.reply.error.message, HasSubstr("without an answer"));
    EXPECT_THAT(asked.reply.error.message, HasSubstr("3 attempts"));
}

TEST(Endpoint, WaitsAsLongAsItIsTold) {
    const std::string body = R"({"error":{"message":"slow down","type":"rate_limit_error"}})";
    Asked asked = ask({response(429, "Retry-After: 7\r\n", body), stream(whole)});
    EXPECT_EQ(asked.reply.outcome, Outcome::complete);
    EXPECT_EQ(asked.slept, std::chrono::seconds(7));
    asked = ask({response(429, "retry-after-ms: 30\r\nRetry-After: 7\r\n", body), stream(whole)});
    EXPECT_EQ(asked.slept, std::chrono::milliseconds(30));
    asked = ask({response(503, "Retry-After: Fri, 15 Jan 2027 08:00:20 GMT\r\n", ""), stream(whole)});
    EXPECT_EQ(asked.slept, std::chrono::seconds(20));
    asked = ask({response(429, "Retry-After: 7200\r\n", body), stream(whole)});
    EXPECT_EQ(asked.reply.outcome, Outcome::rate_limited);
    EXPECT_THAT(asked.reply.error.message, HasSubstr("asks to wait 7200 s"));
    EXPECT_EQ(asked.slept.count(), 0);
}

TEST(Endpoint, DoesNotWaitLongerThanTheAskMayTake) {
    AskLimits limits;
    limits.time = std::chrono::seconds(5);
    const Asked asked = ask({response(429, "Retry-After: 7\r\n", "{}"), stream(whole)}, "openai", {}, limits);
    EXPECT_EQ(asked.reply.outcome, Outcome::rate_limited);
    EXPECT_THAT(asked.reply.error.message, HasSubstr("no time is left"));
    EXPECT_EQ(asked.slept.count(), 0);
    limits.time = std::chrono::milliseconds(0);
    const Asked none = ask({stream(whole)}, "openai", {}, limits);
    EXPECT_EQ(none.reply.outcome, Outcome::timed_out);
    EXPECT_EQ(none.reply.attempts, 0);
    EXPECT_TRUE(none.requests.empty());
}

TEST(Endpoint, TurnsStatusesIntoOutcomes) {
    const auto outcome = [](int status, const std::string& body, const std::string& headers = "") {
        return ask(std::vector<Script>(3, response(status, headers, body))).reply;
    };
    const Reply overloaded =
        outcome(529, R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})");
    EXPECT_EQ(overloaded.outcome, Outcome::endpoint_error);
    EXPECT_EQ(overloaded.attempts, 3);
    EXPECT_THAT(overloaded.error.message, HasSubstr("529 overloaded_error: Overloaded"));
    EXPECT_EQ(outcome(500, "<html>long page</html>").outcome, Outcome::endpoint_error);

    const Reply unauthorized = outcome(401, R"({"error":{"message":"Incorrect API key provided: )" +
                                                secret_key + R"(","code":"invalid_api_key"}})");
    EXPECT_EQ(unauthorized.outcome, Outcome::unauthorized);
    EXPECT_EQ(unauthorized.attempts, 1);
    EXPECT_THAT(unauthorized.error.message, HasSubstr("[redacted]"));
    EXPECT_THAT(unauthorized.error.hint, HasSubstr("OPENAI_API_KEY"));

    const Reply quota = outcome(
        429,
        R"({"error":{"message":"You exceeded your quota","type":"insufficient_quota","code":"insufficient_quota"}})",
        "Retry-After: 1\r\n");
    EXPECT_EQ(quota.outcome, Outcome::quota_exhausted);
    EXPECT_EQ(quota.attempts, 1);
    EXPECT_EQ(outcome(402, "{}").outcome, Outcome::quota_exhausted);

    const Reply model = outcome(404, R"({"error":{"message":"no such model"}})");
    EXPECT_EQ(model.outcome, Outcome::rejected);
    EXPECT_EQ(model.attempts, 1);
    EXPECT_THAT(model.error.hint, HasSubstr("/v1"));
    EXPECT_EQ(outcome(422, R"({"detail":[{"loc":["body"],"msg":"field required"}]})").outcome,
              Outcome::rejected);
    EXPECT_EQ(
        outcome(
            400,
            R"({"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}})")
            .outcome,
        Outcome::context_full);
    const Reply redirect = outcome(301, "", "Location: https://me:pw@elsewhere.example/v1\r\n");
    EXPECT_EQ(redirect.outcome, Outcome::rejected);
    EXPECT_THAT(redirect.error.message, HasSubstr("https://elsewhere.example/v1"));
    EXPECT_EQ(outcome(418, "\x1b[2J teapot \n\n says\tno").error.message.find('\x1b'), std::string::npos);
    EXPECT_EQ(ask({response(400, "x-should-retry: true\r\n", "{}"), stream(whole)}).reply.outcome,
              Outcome::complete);
    EXPECT_EQ(ask({response(500, "x-should-retry: false\r\n", "{}"), stream(whole)}).reply.attempts, 1);
}

TEST(Endpoint, SeesErrorsInsideASuccess) {
    const std::string error = R"(data: {"error":{"message":"boom","type":"server_error"}})"
                              "\n\n";
    // before anything came: as if the status had said so
    Asked asked = ask({stream(error), stream(whole)});
    EXPECT_EQ(asked.reply.outcome, Outcome::complete);
    EXPECT_EQ(asked.reply.attempts, 2);
    // in the middle: half an answer
    asked = ask({stream(chunk("half") + error + done)});
    EXPECT_EQ(asked.reply.outcome, Outcome::broken_stream);
    EXPECT_THAT(asked.reply.error.message, HasSubstr("boom (inside the answer)"));
    // what will not pass is not tried again
    asked = ask({stream("data: {\"error\":{\"message\":\"pay\",\"code\":\"insufficient_quota\"}}\n\n"),
                 stream(whole)});
    EXPECT_EQ(asked.reply.outcome, Outcome::quota_exhausted);
    asked = ask({stream("data: {\"error\":{\"message\":\"bad\",\"type\":\"invalid_request_error\"}}\n\n"),
                 stream(whole)});
    EXPECT_EQ(asked.reply.outcome, Outcome::rejected);
    // the same as a document
    asked = ask({response(200, "Content-Type: application/json\r\n",
                          R"({"error":{"message":"x","type":"invalid_request_error"}})")});
    EXPECT_EQ(asked.reply.outcome, Outcome::rejected);
}

TEST(Endpoint, TakesADocumentInsteadOfAStream) {
    const std::string body =
        R"( {"model":"m","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}})";
    const Reply reply = ask({response(200, "Content-Type: application/json\r\n", body)}).reply;
    EXPECT_EQ(reply.outcome, Outcome::complete) << reply.error.str();
    EXPECT_EQ(reply.text, "hi");
    EXPECT_EQ(reply.usage.input_tokens, 3);
    const Script cut{{stream_head(static_cast<long>(body.size()) + 5) + body.substr(0, 60)}, End::close};
    EXPECT_EQ(ask({cut, cut, cut}).reply.outcome, Outcome::broken_stream);
}

TEST(Endpoint, KnowsThatAPageIsNoAnswer) {
    const Asked asked =
        ask({response(200, "Content-Type: text/html\r\n", "<!doctype html><p>Welcome to the router</p>")});
    EXPECT_EQ(asked.reply.outcome, Outcome::rejected);
    EXPECT_EQ(asked.requests.size(), 1U);
    EXPECT_THAT(asked.reply.error.message, HasSubstr("text/html"));
    EXPECT_THAT(asked.reply.error.hint, HasSubstr("base URL"));
}

TEST(Endpoint, TellsTruncationFromCompletion) {
    const std::string cut =
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\n";
    const Reply reply = ask({stream(chunk("```cuda\\n__global__") + cut + usage + done)}).reply;
    EXPECT_EQ(reply.outcome, Outcome::truncated);
    EXPECT_EQ(reply.finish_reason, "length");
    EXPECT_TRUE(reply.usage.reported);
    EXPECT_NE(reply.error.message, "");
}

TEST(Endpoint, SaysTheCapInTheWayTheServerKnows) {
    const Asked asked = ask(
        {response(
             400, "",
             R"({"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.","param":"max_tokens"}})"),
         response(400, "", R"({"error":{"message":"stream_options is not permitted"}})"), stream(whole)});
    EXPECT_EQ(asked.reply.outcome, Outcome::complete) << asked.reply.error.str();
    ASSERT_EQ(asked.requests.size(), 3U);
    EXPECT_THAT(asked.requests[1], HasSubstr("\"max_completion_tokens\":16384"));
    EXPECT_THAT(asked.requests[1], Not(HasSubstr("\"max_tokens\"")));
    EXPECT_THAT(asked.requests[2], Not(HasSubstr("stream_options")));
    EXPECT_EQ(asked.slept.count(), 0);
}

TEST(Endpoint, LowersTheCapToWhatTheServerTakes) {
    const auto second_cap = [](const std::string& message) {
        const Asked asked =
            ask({response(400, "", Json{{"error", {{"message", message}}}}.dump()), stream(whole)});
        if (asked.requests.size() < 2) return std::string("no second request");
        const Json body = Json::parse(asked.requests[1].substr(asked.requests[1].find("\r\n\r\n")));
        return body["max_tokens"].dump();
    };
    EXPECT_EQ(
        second_cap("max_tokens is too large: 16384. This model supports at most 4096 completion tokens, "
                   "whereas you provided 16384."),
        "4096");
    EXPECT_EQ(
        second_cap("max_tokens: 16384 > 8192, which is the maximum allowed number of output tokens for x"),
        "8192");
    EXPECT_EQ(
        second_cap("This model's maximum context length is 8192 tokens. However, you requested 17000 tokens "
                   "(616 in the messages, 16384 in the completion)."),
        "7576");
    EXPECT_EQ(second_cap(
                  "'max_tokens' or 'max_completion_tokens' is too large: 16384. This model's maximum context "
                  "length is 8192 tokens and your request has 616 input tokens (16384 > 8192 - 616)."),
              "7576");
    // The prompt itself does not fit
    EXPECT_EQ(
        second_cap("This model's maximum context length is 8192 tokens. However, you requested 25000 tokens "
                   "(8616 in the messages, 16384 in the completion)."),
        "no second request");
    EXPECT_EQ(second_cap("maximum context length is 99999999999999999999"), "no second request");
}

TEST(Endpoint, TakesAnEmptyAnswerForABrokenOne) {
    const Asked asked = ask({stream(done), stream(whole)});
    EXPECT_EQ(asked.reply.outcome, Outcome::complete);
    EXPECT_EQ(asked.reply.attempts, 2);
}

TEST(Endpoint, SendsTheCapOfTheAsk) {
    AskLimits limits;
    limits.max_output_tokens = 321;
    EXPECT_THAT(ask({stream(whole)}, "openai", {}, limits).requests[0], HasSubstr("\"max_tokens\":321"));
}

TEST(Endpoint, NoticesSilence) {
    const auto quick = [](AuthorConfig& config) {
        config.limits.stall = std::chrono::seconds(1);
        config.retry.max_retries = 0;
    };
    const Reply never = ask({{{}, End::hang}}, "openai", quick).reply;
    EXPECT_EQ(never.outcome, Outcome::timed_out);
    EXPECT_THAT(never.error.message, HasSubstr("no byte came for 1 s"));
    const Reply stalled = ask({{{stream_head() + chunk("half")}, End::hang}}, "openai", quick).reply;
    EXPECT_EQ(stalled.outcome, Outcome::broken_stream);
    EXPECT_EQ(stalled.text, "half");
    // The end was seen, only [DONE] never came
    EXPECT_EQ(ask({{{stream_head() + chunk("x") + finish}, End::hang}}, "openai", quick).reply.outcome,
              Outcome::complete);
}

TEST(Endpoint, KeepsToTheTimeOfTheAsk) {
    AskLimits limits;
    limits.time = std::chrono::milliseconds(300);
    const auto start = std::chrono::steady_clock::now();
    const Reply reply = ask({{{stream_head()}, End::hang}}, "openai", {}, limits).reply;
    EXPECT_EQ(reply.outcome, Outcome::timed_out) << reply.error.str();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
}

TEST(Endpoint, RefusesAnAnswerWithoutEnd) {
    std::vector<std::string> pieces{stream_head()};
    const std::string block = chunk(std::string(60000, 'x'));
    for (int i = 0; i < 1200; ++i) pieces.push_back(block);  // 72 MB
    const Asked asked = ask({{std::move(pieces), End::close}, stream(whole)});
    EXPECT_EQ(asked.reply.outcome, Outcome::broken_stream);
    EXPECT_THAT(asked.reply.error.message, HasSubstr("larger than 64 MiB"));
    EXPECT_EQ(asked.requests.size(), 1U);
}

TEST(Endpoint, BoundsTheBodyOfAnError) {
    const Asked asked = ask({response(400, "", std::string(5'000'000, 'x'))});
    EXPECT_EQ(asked.reply.outcome, Outcome::rejected);
    EXPECT_LT(asked.reply.error.message.size(), 1000U);
}

TEST(Endpoint, CanBeCancelledInTheMiddleOfAStream) {
    ScriptedServer server({{{stream_head() + chunk("half")}, End::hang}});
    FakeClock clock;
    auto maker = author("openai", test_config(server.url()), clock);
    std::stop_source source;
    AskLimits limits;
    limits.stop = source.get_token();
    std::thread other;
    const auto start = std::chrono::steady_clock::now();
    const Reply reply = maker->ask(hello(), limits, [&](const AskProgress& progress) {
        if (progress.phase == AskProgress::Phase::answering && !other.joinable()) {
            EXPECT_EQ(progress.text_bytes, 4U);
            other = std::thread([&source] { source.request_stop(); });
        }
    });
    ASSERT_TRUE(other.joinable());
    other.join();
    EXPECT_EQ(reply.outcome, Outcome::cancelled);
    EXPECT_EQ(reply.text, "half");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
}

TEST(Endpoint, CanBeCancelledWhileItWaits) {
    ScriptedServer server({response(429, "Retry-After: 500\r\n", "{}"), stream(whole)});
    FakeClock clock;
    auto maker = author("openai", test_config(server.url()), clock);
    std::stop_source source;
    AskLimits limits;
    limits.stop = source.get_token();
    const Reply reply = maker->ask(hello(), limits, [&](const AskProgress& progress) {
        if (progress.phase != AskProgress::Phase::waiting) return;
        EXPECT_EQ(progress.wait, std::chrono::seconds(500));
        EXPECT_THAT(progress.why, HasSubstr("429"));
        source.request_stop();
    });
    EXPECT_EQ(reply.outcome, Outcome::cancelled);
    EXPECT_EQ(clock.slept.count(), 0);
    EXPECT_EQ(server.requests().size(), 1U);
    // and before it starts
    EXPECT_EQ(maker->ask(hello(), limits, {}).outcome, Outcome::cancelled);
    EXPECT_EQ(server.requests().size(), 1U);
}

TEST(Endpoint, IsUnreachableWhereNobodyListens) {
    int port = 0;
    { port = ScriptedServer({}).port(); }
    FakeClock clock;
    auto maker = author("openai", test_config("http://127.0.0.1:" + std::to_string(port)), clock);
    const Reply reply = maker->ask(hello());
    EXPECT_EQ(reply.outcome, Outcome::unreachable);
    EXPECT_EQ(reply.attempts, 3);
    EXPECT_EQ(exit_code(reply.outcome), 3);
    EXPECT_THAT(reply.error.message, HasSubstr("cannot connect"));
    EXPECT_THAT(reply.error.hint, HasSubstr("base URL"));
}

TEST(Endpoint, UsesNoProxyForLoopback) {
    ::setenv("http_proxy", "http://127.0.0.1:1", 1);
    ::setenv("all_proxy", "http://127.0.0.1:1", 1);
    const Reply reply = ask({stream(whole)}).reply;
    ::unsetenv("http_proxy");
    ::unsetenv("all_proxy");
    EXPECT_EQ(reply.outcome, Outcome::complete) << reply.error.str();
}

TEST(Endpoint, ShowsNoKeyThatTheServerRepeats) {
    const Reply reply = ask({stream(chunk("your key is " + secret_key) + finish + done,
                                    "X-Request-Id: " + secret_key + "\r\n")})
                            .reply;
    EXPECT_EQ(reply.text, "your key is [redacted]");
    EXPECT_EQ(reply.request_id, "[redacted]");
    // Nor does a key travel in a prompt
    ScriptedServer server({stream(whole)});
    FakeClock clock;
    auto maker = author("openai", test_config(server.url()), clock);
    maker->ask({"", {{Role::user, "my key: " + secret_key}}});
    const std::string request = server.requests().at(0);
    EXPECT_THAT(request.substr(request.find("\r\n\r\n")), Not(HasSubstr(secret_key)));
}

TEST(Endpoint, WarnsOfACutPrompt) {
    ScriptedServer server({stream(whole)});
    FakeClock clock;
    auto maker = author("openai", test_config(server.url()), clock);
    const Reply reply = maker->ask({std::string(20000, 'x'), {{Role::user, "go"}}});
    ASSERT_EQ(reply.warnings.size(), 1U);
    EXPECT_THAT(reply.warnings[0], HasSubstr("counted 70 prompt tokens"));
}

// ---- the other protocol, through the same machinery ------------------------------------------------------

std::string event(const std::string& name, const std::string& data) {
    return "event: " + name + "\ndata: " + data + "\n\n";
}
const std::string message_start = event(
    "message_start",
    R"({"type":"message_start","message":{"id":"msg_1","model":"claude-x","usage":{"input_tokens":5,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":1}}})");
std::string delta(const std::string& words) {
    return event("content_block_delta",
                 R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":")" + words +
                     R"("}})");
}
const std::string message_end =
    event("message_delta",
          R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":12}})") +
    event("message_stop", R"({"type":"message_stop"})");

TEST(AnthropicEndpoint, ReadsAWholeAnswer) {
    const Asked asked = ask({stream(message_start + event("ping", R"({"type":"ping"})") + delta("Hel") +
                                        delta("lo") + message_end,
                                    "request-id: req_7\r\n")},
                            "anthropic");
    EXPECT_EQ(asked.reply.outcome, Outcome::complete) << asked.reply.error.str();
    EXPECT_EQ(asked.reply.text, "Hello");
    EXPECT_EQ(asked.reply.usage, (Usage{125, 100, 20, 12, 0, true}));
    EXPECT_EQ(asked.reply.request_id, "req_7");
    EXPECT_THAT(asked.requests[0], HasSubstr("POST /v1/messages HTTP/1.1"));
    EXPECT_THAT(asked.requests[0], HasSubstr("x-api-key: " + secret_key));
    EXPECT_THAT(asked.requests[0], HasSubstr("anthropic-version: 2023-06-01"));
}

TEST(AnthropicEndpoint, RetriesWhatIsOverloaded) {
    const std::string error =
        R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_8"})";
    Asked asked = ask({response(529, "", error), stream(event("error", error)),
                       stream(message_start + delta("x") + message_end)},
                      "anthropic");
    EXPECT_EQ(asked.reply.outcome, Outcome::complete);
    EXPECT_EQ(asked.reply.attempts, 3);
    asked = ask({stream(message_start + delta("half") + event("error", error))}, "anthropic");
    EXPECT_EQ(asked.reply.outcome, Outcome::broken_stream);
    EXPECT_EQ(asked.reply.usage.input_tokens, 125);
    EXPECT_FALSE(asked.reply.usage.reported);
    EXPECT_EQ(asked.reply.request_id, "req_8");
    EXPECT_EQ(ask({stream(message_start + delta("half"))}, "anthropic").reply.outcome,
              Outcome::broken_stream);
}

TEST(AnthropicEndpoint, KnowsAnEmptyAccount) {
    const Asked asked = ask(
        {response(
            400, "",
            R"({"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}})")},
        "anthropic");
    EXPECT_EQ(asked.reply.outcome, Outcome::quota_exhausted);
    EXPECT_EQ(asked.requests.size(), 1U);
}

TEST(AnthropicEndpoint, KeepsCustomHeadersSecret) {
    const auto change = [](AuthorConfig& config) {
        auto inner = config.environment;
        config.environment = [inner](const std::string& name) -> std::optional<std::string> {
            const std::string wanted = name;
            if (wanted == "ANTHROPIC_CUSTOM_HEADERS") return "X-Gateway-Auth: gateway-token-999888777";
            if (wanted == "ANTHROPIC_API_KEY") return std::nullopt;
            if (wanted == "ANTHROPIC_AUTH_TOKEN") return secret_key;
            return inner(name);
        };
    };
    const Asked asked = ask(
        {response(403, "", R"({"error":{"message":"bad gateway-token-999888777 and )" + secret_key + "\"}}")},
        "anthropic", change);
    EXPECT_EQ(asked.reply.outcome, Outcome::unauthorized);
    EXPECT_THAT(asked.requests[0], HasSubstr("X-Gateway-Auth: gateway-token-999888777"));
    EXPECT_THAT(asked.requests[0], HasSubstr("Authorization: Bearer " + secret_key));
    EXPECT_THAT(shown(asked.reply), Not(HasSubstr("gateway-token")));
}

// ---- the factory ------------------------------------------------------------------------------------------

AuthorFailure failure(const std::string& spec, std::map<std::string, std::string> variables) {
    AuthorConfig config;
    config.environment = environment(std::move(variables));
    FakeClock clock;
    const auto made = make_author(spec, config, clock);
    if (made.ok()) {
        ADD_FAILURE() << spec << " was made";
        return {};
    }
    return made.error();
}

TEST(Factory, SaysWhatIsMissing) {
    EXPECT_EQ(failure("openai", {}).exit_code, 3);
    EXPECT_THAT(failure("openai", {}).error.message, HasSubstr("OPENAI_API_KEY is not set"));
    EXPECT_EQ(failure("anthropic", {}).exit_code, 3);
    EXPECT_EQ(failure("openai", {{"OPENAI_API_KEY", "k"}}).exit_code, 2);
    EXPECT_THAT(failure("openai", {{"OPENAI_API_KEY", "k"}}).error.str(), HasSubstr("--model"));
    EXPECT_THAT(failure("openia", {}).error.message, HasSubstr("did you mean `openai`?"));
    EXPECT_THAT(failure("replay", {}).error.str(), HasSubstr("replay:FILE"));
    EXPECT_EQ(failure("replay:", {}).exit_code, 2);
    const std::map<std::string, std::string> bad_url{{"OPENAI_BASE_URL", "localhost:8000/v1"},
                                                     {"KERNELWRIGHT_MODEL", "m"}};
    EXPECT_THAT(failure("openai", bad_url).error.message, HasSubstr("OPENAI_BASE_URL is not a URL"));
    EXPECT_EQ(
        failure("openai", {{"OPENAI_BASE_URL", "file:///etc/passwd"}, {"KERNELWRIGHT_MODEL", "m"}}).exit_code,
        2);
    // A key with a line break would add a header; the message does not repeat it
    const AuthorFailure broken =
        failure("openai", {{"OPENAI_API_KEY", "sk-abc\r\nX-Evil: 1"}, {"KERNELWRIGHT_MODEL", "m"}});
    EXPECT_EQ(broken.exit_code, 2);
    EXPECT_THAT(broken.error.str(), Not(HasSubstr("sk-abc")));
}

TEST(Factory, NeedsNoKeyForALocalServer) {
    ScriptedServer server({stream(whole)});
    AuthorConfig config;
    config.environment = environment({{"OPENAI_API_BASE", server.url("/v1/")}, {"OPENAI_API_KEY", "  \n"}});
    config.model = "local";
    FakeClock clock;
    auto maker = author("openai", config, clock);
    EXPECT_EQ(maker->ask(hello()).outcome, Outcome::complete);
    EXPECT_THAT(server.requests().at(0), Not(HasSubstr("Authorization")));
    EXPECT_THAT(server.requests().at(0), HasSubstr("POST /v1/chat/completions "));
    EXPECT_EQ(maker->describe(), "openai " + server.url("/v1") + " local");
}

TEST(Factory, FactsForDoctorHoldNoSecret) {
    ScriptedServer server({response(200, "", "{\"data\":[]}"), response(401, "", "{}")});
    AuthorConfig config = test_config(server.url());
    const auto facts = endpoint_facts(config, true);
    ASSERT_EQ(facts.size(), 2U);
    EXPECT_EQ(facts[0].protocol, "openai");
    EXPECT_TRUE(facts[0].usable);
    EXPECT_EQ(facts[0].base_url, server.url("/v1"));
    ASSERT_TRUE(facts[0].probe.has_value());
    EXPECT_TRUE(facts[0].probe->reachable && facts[0].probe->accepted);
    EXPECT_TRUE(facts[1].probe->reachable);
    EXPECT_FALSE(facts[1].probe->accepted);
    EXPECT_EQ(facts[1].variables.at(1).name, "ANTHROPIC_API_KEY");
    EXPECT_TRUE(facts[1].variables.at(1).set);
    EXPECT_FALSE(facts[1].variables.at(2).set);
    AuthorConfig bare;
    bare.environment = environment({});
    const auto nothing = endpoint_facts(bare, true);
    EXPECT_FALSE(nothing[0].usable);
    EXPECT_THAT(nothing[0].problem, HasSubstr("OPENAI_API_KEY is not set"));
    EXPECT_FALSE(nothing[0].probe.has_value());  // nothing is asked of an endpoint that is not set up
}

TEST(Factory, FactsSayWhatTheEndpointAnswered) {
    const struct {
        Script answer;
        bool accepted;
        const char* says;
    } cases[] = {
        {response(200, "", "{\"data\":[]}"), true, "/v1/models: 200)"},
        {response(404, "", "{}"), true, "without a list of models"},
        {response(401, "", "{}"), false, "does not take the key"},
        {response(200, "", "<!doctype html>"), false, "not as an API does"},
        {response(503, "", "later"), false, "answers with an error"},
    };
    for (const auto& c : cases) {
        ScriptedServer server({c.answer, c.answer});
        const auto facts = endpoint_facts(test_config(server.url()), true);
        ASSERT_TRUE(facts[0].probe.has_value());
        EXPECT_EQ(facts[0].probe->accepted, c.accepted) << facts[0].probe->message;
        EXPECT_THAT(facts[0].probe->message, HasSubstr(c.says));
        EXPECT_THAT(facts[0].probe->message, Not(HasSubstr(secret_key)));
    }
    const auto nobody = endpoint_facts(test_config("http://127.0.0.1:9"), true);
    EXPECT_FALSE(nobody[0].probe->accepted);
    EXPECT_THAT(nobody[0].probe->message, HasSubstr("no answer"));
}

TEST(Factory, FactsWarnOfAKeyOnAnOpenWire) {
    AuthorConfig config;
    config.model = "m";
    config.environment = environment({{"OPENAI_BASE_URL", "http://models.example/v1"},
                                      {"OPENAI_API_KEY", secret_key},
                                      {"ANTHROPIC_BASE_URL", "http://127.0.0.1:1"},
                                      {"ANTHROPIC_API_KEY", secret_key}});
    const auto facts = endpoint_facts(config, false);
    EXPECT_THAT(facts[0].problem, HasSubstr("models.example without encryption"));
    EXPECT_EQ(facts[1].problem, "");
}

TEST(Factory, ReadsThePrice) {
    AuthorConfig config;
    config.environment = environment({});
    EXPECT_FALSE(configured_price(config).value().has_value());
    config.environment = environment({{"KERNELWRIGHT_PRICE", "in=3,cached=0.3,out=15"}});
    EXPECT_EQ(configured_price(config).value()->output, 15);
    config.environment = environment({{"KERNELWRIGHT_PRICE", "15"}});
    EXPECT_THAT(configured_price(config).error().message, HasSubstr("KERNELWRIGHT_PRICE"));
}

TEST(Factory, HidesCredentialsOfAUrl) {
    ScriptedServer server({response(404, "", "{}")});
    AuthorConfig config;
    config.environment = environment(
        {{"OPENAI_BASE_URL", "http://user:pass-word-1@127.0.0.1:" + std::to_string(server.port()) + "/v1"}});
    config.model = "m";
    FakeClock clock;
    auto maker = author("openai", config, clock);
    EXPECT_THAT(maker->describe(), Not(HasSubstr("pass-word-1")));
    EXPECT_THAT(shown(maker->ask(hello())), Not(HasSubstr("pass-word-1")));
    EXPECT_THAT(server.requests().at(0), HasSubstr("Authorization: Basic "));
}

}  // namespace
}  // namespace kernelwright
