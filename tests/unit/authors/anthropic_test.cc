// The Anthropic protocol by itself: what is sent, and how canned answers are read.
#include "harness/authors/anthropic.h"

#include <gtest/gtest.h>

namespace kernelwright {
namespace {

AnthropicProtocol protocol(const std::function<void(AnthropicSettings&)>& change = {}) {
    AnthropicSettings settings;
    settings.base_url = "http://127.0.0.1:1";
    settings.model = "m";
    if (change) change(settings);
    return AnthropicProtocol(settings);
}

StreamState read(const std::vector<std::string>& events) {
    const auto reader = protocol().reader();
    for (const auto& data : events) reader->on_event({"ignored", data, ""});
    return reader->state();
}

const std::string start =
    R"({"type":"message_start","message":{"id":"msg_1","model":"m-1","role":"assistant","content":[],"usage":)"
    R"({"input_tokens":50,"cache_creation_input_tokens":200,"cache_read_input_tokens":1000,"output_tokens":1}}})";
std::string text(const std::string& words) {
    return R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":")" + words +
           "\"}}";
}
std::string stop(const std::string& reason, const std::string& usage = R"({"output_tokens":90})") {
    return R"({"type":"message_delta","delta":{"stop_reason":")" + reason +
           R"(","stop_sequence":null},"usage":)" + usage + "}";
}

TEST(Anthropic, MarksTheUnchangingPrefixForTheCache) {
    const Prompt prompt{"system", {{Role::user, "task"}, {Role::assistant, "code"}, {Role::user, "again"}}};
    const HttpRequest request = protocol().request(prompt, 1000);
    EXPECT_EQ(request.url, "http://127.0.0.1:1/v1/messages");
    EXPECT_EQ(
        request.body,
        R"({"model":"m","max_tokens":1000,"stream":true,)"
        R"("system":[{"type":"text","text":"system","cache_control":{"type":"ephemeral"}}],"messages":[)"
        R"({"role":"user","content":[{"type":"text","text":"task","cache_control":{"type":"ephemeral"}}]},)"
        R"({"role":"assistant","content":[{"type":"text","text":"code"}]},)"
        R"({"role":"user","content":[{"type":"text","text":"again"}]}]})");
}

TEST(Anthropic, LeavesBlankMessagesOut) {
    const Json body =
        Json::parse(protocol().request({"", {{Role::assistant, " \n"}, {Role::user, "x"}}}, 1).body);
    EXPECT_EQ(body["messages"].size(), 1U);
    EXPECT_FALSE(body.contains("system"));
}

TEST(Anthropic, SendsKeyOrTokenAndCustomHeaders) {
    const auto headers = [](const std::function<void(AnthropicSettings&)>& change) {
        return protocol(change).request({}, 1).headers;
    };
    using Pair = std::pair<std::string, std::string>;
    const auto has = [](const auto& list, const Pair& pair) {
        return std::find(list.begin(), list.end(), pair) != list.end();
    };
    const auto keyed = headers([](auto& s) {
        s.key = "k";
        s.auth_token = "t";
    });
    EXPECT_TRUE(has(keyed, Pair{"x-api-key", "k"}));
    EXPECT_TRUE(has(keyed, Pair{"anthropic-version", "2023-06-01"}));
    EXPECT_FALSE(has(keyed, Pair{"Authorization", "Bearer t"}));
    const auto bearer = headers([](auto& s) {
        s.auth_token = "t";
        s.custom_headers = {{"X-Team", "kernels"}};
    });
    EXPECT_TRUE(has(bearer, Pair{"Authorization", "Bearer t"}));
    EXPECT_TRUE(has(bearer, Pair{"X-Team", "kernels"}));

    const auto parsed = parse_custom_headers("X-One: 1\n\n X-Two :a:b \n");
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, (std::vector<Pair>{{"X-One", "1"}, {"X-Two", "a:b"}}));
    for (const char* bad : {"no colon", ": x", "bad name: x"})
        EXPECT_FALSE(parse_custom_headers(bad).ok()) << bad;
    EXPECT_EQ(parse_custom_headers("secret-value-without-colon").error().message.find("secret"),
              std::string::npos);
}

TEST(Anthropic, AsksForThinking) {
    const auto body = [](std::int64_t budget, std::int64_t cap) {
        return Json::parse(protocol([budget](auto& s) { s.thinking_tokens = budget; }).request({}, cap).body);
    };
    EXPECT_EQ(body(4000, 16000)["thinking"], (Json{{"type", "enabled"}, {"budget_tokens", 4000}}));
    EXPECT_EQ(body(40000, 16000)["thinking"]["budget_tokens"], 8000);
    EXPECT_FALSE(body(4000, 2000).contains("thinking"));  // less than the endpoint allows
    EXPECT_FALSE(body(0, 16000).contains("thinking"));
    const Json effort = Json::parse(protocol([](auto& s) { s.effort = "high"; }).request({}, 10).body);
    EXPECT_EQ(effort["output_config"]["effort"], "high");
    EXPECT_EQ(effort["thinking"]["type"], "adaptive");
}

TEST(Anthropic, TakesABaseUrlWithOrWithoutV1) {
    for (const char* url : {"http://h", "http://h/", "http://h/v1", "http://h/v1/"}) {
        EXPECT_EQ(protocol([url](auto& s) { s.base_url = url; }).request({}, 1).url, "http://h/v1/messages");
    }
}

TEST(Anthropic, ReadsAStreamAndSumsTheCachedInput) {
    const StreamState state = read(
        {start,
         R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}})",
         R"({"type":"ping"})",
         R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}})",
         R"({"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"abc"}})",
         R"({"type":"content_block_stop","index":0})",
         R"({"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"zzz"}})",
         R"({"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}})", text("Hel"),
         text("lo"),
         stop("end_turn", R"({"output_tokens":90,"output_tokens_details":{"thinking_tokens":40}})"),
         R"({"type":"message_stop"})"});
    EXPECT_EQ(state.text, "Hello");
    EXPECT_EQ(state.reasoning, "hm");
    EXPECT_EQ(state.model, "m-1");
    EXPECT_EQ(state.finish_reason, "end_turn");
    EXPECT_EQ(state.usage, (Usage{1250, 1000, 200, 90, 40, true}));
    EXPECT_TRUE(state.terminal);
}

TEST(Anthropic, LetsTheLastUsageWin) {
    const StreamState state =
        read({start, stop("end_turn", R"({"input_tokens":60,"cache_creation_input_tokens":null,)"
                                      R"("cache_read_input_tokens":1100,"output_tokens":5})")});
    EXPECT_EQ(state.usage, (Usage{1360, 1100, 200, 5, 0, true}));
    const StreamState broken = read({start, text("x")});
    EXPECT_EQ(broken.usage, (Usage{1250, 1000, 200, 1, 0, false}));
    EXPECT_FALSE(broken.terminal);
}

TEST(Anthropic, TurnsStopReasonsIntoOutcomes) {
    const auto outcome = [](const char* reason) {
        return protocol().outcome_of_finish(read({start, stop(reason)}));
    };
    EXPECT_EQ(outcome("end_turn"), Outcome::complete);
    EXPECT_EQ(outcome("stop_sequence"), Outcome::complete);
    EXPECT_EQ(outcome("max_tokens"), Outcome::truncated);
    EXPECT_EQ(outcome("pause_turn"), Outcome::truncated);
    EXPECT_EQ(outcome("refusal"), Outcome::refused);
    EXPECT_EQ(outcome("model_context_window_exceeded"), Outcome::context_full);
}

TEST(Anthropic, SeesErrorEvents) {
    const StreamState state = read(
        {start, text("a"),
         R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_9"})",
         R"({"type":"message_stop"})"});
    ASSERT_TRUE(state.error.has_value());
    EXPECT_EQ(state.error->status, 529);
    EXPECT_EQ(state.error->request_id, "req_9");
    EXPECT_FALSE(state.terminal);
    EXPECT_TRUE(read({R"({"type":"error"})"}).error.has_value());
    EXPECT_EQ(
        outcome_of(*read({R"({"type":"error","error":{"type":"billing_error","message":"pay"}})"}).error),
        Outcome::quota_exhausted);
    EXPECT_EQ(
        outcome_of(
            *read({R"({"type":"error","error":{"type":"authentication_error","message":"no"}})"}).error),
        Outcome::unauthorized);
}

TEST(Anthropic, NeverSkipsAnEventThatItCannotRead) {
    const StreamState state = read({start, text("a"), R"({"type":"content_bl)", stop("end_turn")});
    EXPECT_FALSE(state.terminal);
    EXPECT_NE(state.malformed, "");
}

TEST(Anthropic, ReadsAWholeDocument) {
    const auto reader = protocol().reader();
    reader->on_document(Json::parse(
        R"({"id":"msg","model":"m-3","content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"a"},)"
        R"({"type":"text","text":"b"}],"stop_reason":"max_tokens","usage":{"input_tokens":3,"cache_read_input_tokens":4,)"
        R"("output_tokens":5}})"));
    EXPECT_EQ(reader->state().text, "ab");
    EXPECT_EQ(reader->state().reasoning, "t");
    EXPECT_EQ(reader->state().usage, (Usage{7, 4, 0, 5, 0, true}));
    EXPECT_TRUE(reader->state().terminal);
}

TEST(Anthropic, BearsAnyJson) {
    for (const char* odd :
         {"null", "[]", R"({"type":3})", R"({"type":"message_start"})",
          R"({"type":"message_start","message":[]})", R"({"type":"content_block_delta","delta":"x"})",
          R"({"type":"message_delta","delta":null,"usage":3})",
          R"({"type":"message_delta","usage":{"output_tokens":-1}})", R"({"content":[3,null]})",
          R"({"error":7})"}) {
        read({odd});
        const auto reader = protocol().reader();
        reader->on_document(Json::parse(odd));
        EXPECT_FALSE(read({odd}).text.size() > 0);
    }
}

}  // namespace
}  // namespace kernelwright
