// The OpenAI protocol by itself: what is sent, and how canned answers are read.
#include "harness/authors/openai.h"

#include <gtest/gtest.h>

namespace kernelwright {
namespace {

OpenAiProtocol protocol(const std::string& url = "http://127.0.0.1:1/v1") {
    OpenAiSettings settings;
    settings.base_url = url;
    settings.model = "m";
    return OpenAiProtocol(settings);
}

StreamState read(const std::vector<std::string>& events) {
    const auto reader = protocol().reader();
    for (const auto& data : events) reader->on_event({"message", data, ""});
    return reader->state();
}

StreamState document(const std::string& text) {
    const auto reader = protocol().reader();
    reader->on_document(Json::parse(text));
    return reader->state();
}

std::string choice(const std::string& delta, const std::string& finish = "null") {
    return R"({"id":"c1","model":"m-1","choices":[{"index":0,"delta":)" + delta + R"(,"finish_reason":)" +
           finish + "}]}";
}

TEST(OpenAi, SendsTheUnchangingPartFirst) {
    const Prompt prompt{"system", {{Role::user, "task"}, {Role::assistant, "code"}, {Role::user, "again"}}};
    const HttpRequest request = protocol("http://127.0.0.1:1/v1/").request(prompt, 1000);
    EXPECT_EQ(request.url, "http://127.0.0.1:1/v1/chat/completions");
    EXPECT_EQ(
        request.body,
        R"({"model":"m","messages":[{"role":"system","content":"system"},{"role":"user","content":"task"},)"
        R"({"role":"assistant","content":"code"},{"role":"user","content":"again"}],"stream":true,)"
        R"("stream_options":{"include_usage":true},"max_tokens":1000})");
    for (const auto& [name, value] : request.headers) EXPECT_NE(name, "Authorization");
    // Bytes that are not UTF-8 are replaced, not thrown over.
    EXPECT_NE(protocol().request({"", {{Role::user, "\xff"}}}, 1).body.find("\xEF\xBF\xBD"),
              std::string::npos);
}

TEST(OpenAi, NamesTheCapAsTheServerKnowsIt) {
    auto hosted = protocol("https://api.openai.com/v1");
    EXPECT_NE(hosted.request({}, 9).body.find(R"("max_completion_tokens":9)"), std::string::npos);
    const ApiError error{400,
                         "invalid_request_error",
                         "unsupported_parameter",
                         "max_completion_tokens",
                         "Unsupported parameter: 'max_completion_tokens'",
                         ""};
    EXPECT_TRUE(hosted.adapt(error));
    EXPECT_NE(hosted.request({}, 9).body.find(R"("max_tokens":9)"), std::string::npos);
    EXPECT_EQ(hosted.request({}, 9).body.find("max_completion_tokens"), std::string::npos);
    EXPECT_FALSE(hosted.adapt(error));  // once

    auto local = protocol();
    EXPECT_FALSE(local.adapt({400, "", "", "", "temperature is wrong", ""}));
    EXPECT_FALSE(local.adapt({500, "", "", "max_tokens", "", ""}));
    EXPECT_TRUE(local.adapt({400, "", "", "",
                             "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                             "'max_completion_tokens' instead.",
                             ""}));
    EXPECT_NE(local.request({}, 9).body.find(R"("max_completion_tokens":9)"), std::string::npos);
    EXPECT_TRUE(local.adapt({400, "", "", "", "unknown field stream_options", ""}));
    EXPECT_EQ(local.request({}, 9).body.find("stream_options"), std::string::npos);
}

TEST(OpenAi, ReadsAStreamWithCachedAndReasoningTokens) {
    const StreamState state =
        read({choice(R"({"role":"assistant","content":""})"), choice(R"({"content":"Hel"})"),
              choice(R"({"content":"lo"})"), choice("{}", R"("stop")"),
              R"({"choices":[],"usage":{"prompt_tokens":2000,"completion_tokens":300,"total_tokens":2300,)"
              R"("prompt_tokens_details":{"cached_tokens":1536,"cache_write_tokens":200},)"
              R"("completion_tokens_details":{"reasoning_tokens":128}}})",
              "[DONE]"});
    EXPECT_EQ(state.text, "Hello");
    EXPECT_EQ(state.finish_reason, "stop");
    EXPECT_EQ(state.model, "m-1");
    EXPECT_EQ(state.usage, (Usage{2000, 1536, 200, 300, 128, true}));
    EXPECT_TRUE(state.terminal);
    EXPECT_TRUE(state.finished);
}

TEST(OpenAi, BearsMissingAndOddMembers) {
    // role absent, content null or an array, finish_reason "" or null, usage null, unknown members
    const StreamState state =
        read({choice(R"({"content":null})", R"("")"),
              choice(R"({"content":[{"type":"text","text":"a"},{"type":"image"},"b"]})"),
              R"({"choices":[{"delta":{"content":"c","x":1}}],"usage":null,"y":[]})", R"({"choices":null})",
              R"({"choices":[null,3]})", R"({"choices":[{"index":0}]})",
              R"({"choices":[{"index":1,"delta":{"content":"other choice"}}]})", "[DONE]"});
    EXPECT_EQ(state.text, "abc");
    EXPECT_EQ(state.finish_reason, "");
    EXPECT_TRUE(state.terminal);
    EXPECT_FALSE(state.usage.reported);
    EXPECT_EQ(protocol().outcome_of_finish(state), Outcome::complete);
}

TEST(OpenAi, FinishReasonIsTerminalAndNothingElse) {
    EXPECT_FALSE(read({choice(R"({"content":"a"})")}).terminal);
    EXPECT_TRUE(read({choice(R"({"content":"a"})"), choice("{}", R"("stop")")}).terminal);
    EXPECT_TRUE(read({choice(R"({"content":"a"})"), "[DONE]"}).terminal);
    EXPECT_FALSE(read({choice(R"({"content":"a"})"),
                       R"({"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}})"})
                     .terminal);
}

TEST(OpenAi, KnowsBothNamesOfReasoning) {
    EXPECT_EQ(
        read({choice(R"({"reasoning_content":"hm "})"), choice(R"({"reasoning_content":"yes"})")}).reasoning,
        "hm yes");
    EXPECT_EQ(read({choice(R"({"reasoning":"hm"})")}).reasoning, "hm");
    EXPECT_EQ(read({choice(R"({"reasoning":"hm","reasoning_content":"hm"})")}).reasoning, "hm");  // not twice
    EXPECT_EQ(read({choice(R"({"reasoning":"hm"})")}).text, "");
}

TEST(OpenAi, TurnsFinishReasonsIntoOutcomes) {
    const auto outcome = [](const std::string& finish) {
        return protocol().outcome_of_finish(read({choice(R"({"content":"x"})", "\"" + finish + "\"")}));
    };
    EXPECT_EQ(outcome("stop"), Outcome::complete);
    EXPECT_EQ(outcome("tool_calls"), Outcome::complete);
    EXPECT_EQ(outcome("something_new"), Outcome::complete);
    EXPECT_EQ(outcome("length"), Outcome::truncated);
    EXPECT_EQ(outcome("max_tokens"), Outcome::truncated);
    EXPECT_EQ(outcome("content_filter"), Outcome::content_filter);
    EXPECT_EQ(outcome("error"), Outcome::broken_stream);
    EXPECT_EQ(protocol().outcome_of_finish(read({choice(R"({"refusal":"no"})", R"("stop")")})),
              Outcome::refused);
}

TEST(OpenAi, CountsReasoningOnce) {
    const auto usage = [](const std::string& json) {
        return read({R"({"choices":[],"usage":)" + json + "}"}).usage;
    };
    // reasoning inside completion_tokens, as OpenAI says
    EXPECT_EQ(usage(R"({"prompt_tokens":10,"completion_tokens":50,"total_tokens":60,)"
                    R"("completion_tokens_details":{"reasoning_tokens":40}})")
                  .output_tokens,
              50);
    // beside it, as the total shows
    EXPECT_EQ(usage(R"({"prompt_tokens":10,"completion_tokens":50,"total_tokens":100,)"
                    R"("completion_tokens_details":{"reasoning_tokens":40}})")
                  .output_tokens,
              90);
    EXPECT_EQ(usage(R"({"prompt_tokens":10,"prompt_cache_hit_tokens":8,"completion_tokens":1})")
                  .cached_input_tokens,
              8);
    // absurd numbers
    EXPECT_EQ(
        usage(R"({"prompt_tokens":-5,"completion_tokens":"x","prompt_tokens_details":{"cached_tokens":9}})"),
        (Usage{0, 0, 0, 0, 0, true}));
    EXPECT_EQ(
        usage(R"({"prompt_tokens":10,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":99}})")
            .cached_input_tokens,
        10);
}

TEST(OpenAi, ReadsTheTimingsOfLlamaCpp) {
    const std::string timings =
        R"("timings":{"cache_n":100,"prompt_n":20,"predicted_n":7,"predicted_ms":3.5})";
    EXPECT_EQ(read({R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],)" + timings + "}"}).usage,
              (Usage{120, 100, 0, 7, 0, true}));
    EXPECT_EQ(
        read({R"({"choices":[],"usage":{"prompt_tokens":120,"completion_tokens":7},)" + timings + "}"}).usage,
        (Usage{120, 0, 0, 7, 0, true}));  // usage wins
}

TEST(OpenAi, SeesErrorsInsideAStream) {
    const StreamState first =
        read({choice(R"({"content":"a"})"),
              R"({"error":{"message":"overloaded","type":"server_error","code":null}})", "[DONE]"});
    ASSERT_TRUE(first.error.has_value());
    EXPECT_EQ(first.error->status, 500);
    EXPECT_FALSE(first.terminal);
    EXPECT_TRUE(first.finished);
    EXPECT_EQ(read({R"({"error":"model runner has stopped"})"}).error->message, "model runner has stopped");
    EXPECT_EQ(read({R"({"object":"error","message":"too long","type":"BadRequestError","code":400})"})
                  .error->status,
              400);
    EXPECT_EQ(read({R"({"error":{"code":429,"message":"slow down"}})"}).error->status, 429);
    EXPECT_EQ(outcome_of(*read({R"({"error":{"code":"insufficient_quota","message":"x"}})"}).error),
              Outcome::quota_exhausted);
    // A null error is none.
    EXPECT_FALSE(read({R"({"error":null,"choices":[]})"}).error.has_value());
}

TEST(OpenAi, NeverSkipsAnEventThatItCannotRead) {
    const StreamState state = read({choice(R"({"content":"a"})"), R"({"choices":[{"delta":{"content":"b)",
                                    choice(R"({"content":"c"})", R"("stop")"), "[DONE]"});
    EXPECT_FALSE(state.terminal);
    EXPECT_NE(state.malformed, "");
    EXPECT_EQ(state.text, "a");
}

TEST(OpenAi, ReadsAWholeDocument) {
    const StreamState state = document(
        R"({"id":"c","model":"m-2","choices":[{"index":0,"message":{"role":"assistant","content":"hi","reasoning_content":"r"},)"
        R"("finish_reason":"length"}],"usage":{"prompt_tokens":5,"completion_tokens":2}})");
    EXPECT_EQ(state.text, "hi");
    EXPECT_EQ(state.reasoning, "r");
    EXPECT_EQ(state.usage, (Usage{5, 0, 0, 2, 0, true}));
    EXPECT_TRUE(state.terminal);
    EXPECT_EQ(protocol().outcome_of_finish(state), Outcome::truncated);
    EXPECT_TRUE(document(R"({"choices":[{"message":{"content":"x"}}]})").terminal);
    EXPECT_FALSE(document("[]").terminal);
    EXPECT_FALSE(document("{}").terminal);
    EXPECT_TRUE(document(R"({"error":{"message":"m"}})").error.has_value());
}

TEST(OpenAi, BearsAnyJson) {
    for (const char* odd :
         {"null", "3", "\"x\"", "[]", "[[]]", R"({"choices":{}})", R"({"choices":[[]]})",
          R"({"choices":[{"delta":[]}]})", R"({"choices":[{"delta":{"content":{}}}]})", R"({"usage":[]})",
          R"({"usage":{"prompt_tokens":1e300}})", R"({"model":3,"id":{}})", R"({"error":[]})",
          R"({"choices":[{"finish_reason":{}}]})", R"({"timings":7})"}) {
        read({odd, "[DONE]"});
        document(odd);
    }
}

}  // namespace
}  // namespace kernelwright
