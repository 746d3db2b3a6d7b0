#include "harness/authors/anthropic.h"

#include <algorithm>

#include "harness/authors/redact.h"
#include "harness/core/text.h"

namespace kernelwright {
namespace {

// What the endpoint has said about tokens so far; message_delta repeats some of message_start's numbers.
struct RawUsage {
    std::int64_t input = 0, cache_write = 0, cache_read = 0, output = 0, thinking = 0;

    void take(const Json& json) {
        const auto update = [&json](const char* key, std::int64_t& to) {
            if (const auto it = json.find(key); it != json.end() && it->is_number()) to = count_of(json, key);
        };
        update("input_tokens", input);
        update("cache_creation_input_tokens", cache_write);
        update("cache_read_input_tokens", cache_read);
        update("output_tokens", output);
        if (const Json* details = object_of(json, "output_tokens_details")) {
            thinking = std::max(thinking, count_of(*details, "thinking_tokens"));
        }
    }

    // `input_tokens` leaves the cached parts out: the whole prompt is the sum.
    Usage usage(bool reported) const {
        return {input + cache_write + cache_read, cache_read, cache_write, output,
                std::min(thinking, output),       reported};
    }
};

class AnthropicReader final : public StreamReader {
  public:
    void on_event(const SseEvent& event) override {
        if (state_.finished || event.data.empty()) return;
        const Json json = Json::parse(event.data, nullptr, false);
        if (json.is_discarded() || !json.is_object()) {
            // Going on would leave a hole in the answer; after its end it does no harm.
            if (!state_.terminal)
                state_.malformed = "an event is not a JSON object: " + one_line(event.data, 80);
            state_.finished = true;
            return;
        }
        std::string type = text_of(json, "type");
        if (type.empty()) type = event.name;
        if (type == "error" || json.contains("error")) {
            state_.error = api_error_from(json, 0);
            if (!state_.error) state_.error = ApiError{500, "error", "", "", one_line(event.data), ""};
            state_.finished = true;
        } else if (type == "message_start") {
            if (const Json* message = object_of(json, "message")) start(*message);
        } else if (type == "content_block_start") {
            if (const Json* block = object_of(json, "content_block")) take_block(*block);
        } else if (type == "content_block_delta") {
            if (const Json* delta = object_of(json, "delta")) take_block(*delta);
        } else if (type == "message_delta") {
            if (const Json* delta = object_of(json, "delta")) finish(*delta);
            if (const Json* usage = object_of(json, "usage")) {
                raw_.take(*usage);
                state_.usage = raw_.usage(true);
            }
        } else if (type == "message_stop") {
            state_.terminal = true;
            state_.finished = true;
        }  // ping, content_block_stop and what is yet to be invented: nothing to do
    }

    void on_document(const Json& document) override {
        state_.finished = true;
        if ((state_.error = api_error_from(document, 0))) return;
        const auto content = document.find("content");
        if (content == document.end() || !content->is_array()) return;
        start(document);
        for (const auto& block : *content) take_block(block);
        finish(document);
        state_.terminal = true;
        state_.usage.reported = object_of(document, "usage") != nullptr;
    }

  private:
    void start(const Json& message) {
        state_.model = text_of(message, "model");
        state_.id = text_of(message, "id");
        if (const Json* usage = object_of(message, "usage")) {
            raw_.take(*usage);
            state_.usage = raw_.usage(false);
        }
    }

    // A block and a delta hold their words under the same names. Signatures and redacted thinking are needed
    // only where tools are used, which authors never do.
    void take_block(const Json& block) {
        const std::string type = text_of(block, "type");
        if (type == "text" || type == "text_delta") state_.text += text_of(block, "text");
        if (type == "thinking" || type == "thinking_delta") state_.reasoning += text_of(block, "thinking");
    }

    void finish(const Json& holder) {
        if (const std::string reason = text_of(holder, "stop_reason"); !reason.empty()) {
            state_.finish_reason = reason;
            state_.terminal = true;
        }
    }

    RawUsage raw_;
};

Json text_block(const std::string& text, bool cached) {
    Json block{{"type", "text"}, {"text", text}};
    if (cached) block["cache_control"] = Json{{"type", "ephemeral"}};
    return block;
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> parse_custom_headers(const std::string& text) {
    std::vector<std::pair<std::string, std::string>> headers;
    for (const auto& line : split(text, '\n')) {
        const std::string_view whole = trim(line);
        if (whole.empty()) continue;
        const std::size_t colon = whole.find(':');
        const std::string name(trim(whole.substr(0, colon)));
        const bool named = colon != std::string_view::npos && !name.empty() &&
                           std::all_of(name.begin(), name.end(), [](unsigned char c) {
                               return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
                           });
        if (!named) {
            return Error{"ANTHROPIC_CUSTOM_HEADERS holds a line that is not `Name: value`", "", 0, 0,
                         "one header a line"};
        }
        headers.emplace_back(name, std::string(trim(whole.substr(colon + 1))));
    }
    return headers;
}

AnthropicProtocol::AnthropicProtocol(AnthropicSettings settings) : settings_(std::move(settings)) {
    std::string& url = settings_.base_url;
    while (url.ends_with('/')) url.pop_back();
    if (url.ends_with("/v1")) url.erase(url.size() - 3);
}

std::string AnthropicProtocol::base_url() const { return url_without_credentials(settings_.base_url); }

std::vector<std::pair<std::string, std::string>> AnthropicProtocol::headers() const {
    std::vector<std::pair<std::string, std::string>> headers{{"anthropic-version", "2023-06-01"}};
    if (!settings_.key.empty()) {
        headers.emplace_back("x-api-key", settings_.key);
    } else if (!settings_.auth_token.empty()) {
        headers.emplace_back("Authorization", "Bearer " + settings_.auth_token);
    }
    for (const auto& header : settings_.custom_headers) headers.push_back(header);
    return headers;
}

HttpRequest AnthropicProtocol::request(const Prompt& prompt, std::int64_t max_output_tokens) const {
    Json body{{"model", settings_.model}, {"max_tokens", max_output_tokens}, {"stream", true}};
    if (!prompt.system.empty()) body["system"] = Json::array({text_block(prompt.system, true)});
    Json messages = Json::array();
    bool first_user = true;
    for (const auto& message : prompt.messages) {
        if (trim(message.content).empty()) continue;  // the endpoint refuses blank blocks
        const bool user = message.role == Role::user;
        messages.push_back(Json{{"role", user ? "user" : "assistant"},
                                {"content", Json::array({text_block(message.content, user && first_user)})}});
        if (user) first_user = false;
    }
    body["messages"] = std::move(messages);
    if (!settings_.effort.empty()) {
        body["thinking"] = Json{{"type", "adaptive"}};
        body["output_config"] = Json{{"effort", settings_.effort}};
    } else if (settings_.thinking_tokens > 0) {
        // The budget is a part of max_tokens and must leave room for the answer; 1024 is the least allowed.
        const std::int64_t budget = std::min(settings_.thinking_tokens, max_output_tokens / 2);
        if (budget >= 1024) body["thinking"] = Json{{"type", "enabled"}, {"budget_tokens", budget}};
    }
    if (settings_.temperature) body["temperature"] = *settings_.temperature;

    return stream_request(settings_.base_url + "/v1/messages", headers(), body);
}

HttpRequest AnthropicProtocol::probe() const {
    return get_request(settings_.base_url + "/v1/models", headers());
}

std::unique_ptr<StreamReader> AnthropicProtocol::reader() const {
    return std::make_unique<AnthropicReader>();
}

Outcome AnthropicProtocol::outcome_of_finish(const StreamState& state) const {
    const std::string& reason = state.finish_reason;
    if (reason == "max_tokens" || reason == "pause_turn") return Outcome::truncated;
    if (reason == "model_context_window_exceeded") return Outcome::context_full;
    if (reason == "refusal") return Outcome::refused;
    return Outcome::complete;  // end_turn, stop_sequence, tool_use
}

}  // namespace kernelwright
