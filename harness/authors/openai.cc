#include "harness/authors/openai.h"

#include <algorithm>

#include "harness/authors/redact.h"

namespace kernelwright {
namespace {

Usage usage_of(const Json& json) {
    Usage usage;
    usage.input_tokens = count_of(json, "prompt_tokens");
    usage.output_tokens = count_of(json, "completion_tokens");
    if (const Json* details = object_of(json, "prompt_tokens_details")) {
        usage.cached_input_tokens = count_of(*details, "cached_tokens");
        usage.cache_write_tokens = count_of(*details, "cache_write_tokens");
    } else {
        usage.cached_input_tokens = count_of(json, "prompt_cache_hit_tokens");
    }
    if (const Json* details = object_of(json, "completion_tokens_details")) {
        usage.reasoning_tokens = count_of(*details, "reasoning_tokens");
    }
    // A few servers leave reasoning out of completion_tokens; their total shows it.
    const std::int64_t total = count_of(json, "total_tokens");
    if (usage.reasoning_tokens > 0 &&
        (usage.reasoning_tokens > usage.output_tokens ||
         total == usage.input_tokens + usage.output_tokens + usage.reasoning_tokens)) {
        usage.output_tokens += usage.reasoning_tokens;
    }
    usage.cached_input_tokens = std::min(usage.cached_input_tokens, usage.input_tokens);
    usage.cache_write_tokens =
        std::min(usage.cache_write_tokens, usage.input_tokens - usage.cached_input_tokens);
    usage.reported = true;
    return usage;
}

// llama.cpp tells the same in `timings`, also where it sends no usage.
Usage usage_of_timings(const Json& timings) {
    Usage usage;
    usage.cached_input_tokens = count_of(timings, "cache_n");
    usage.input_tokens = count_of(timings, "prompt_n") + usage.cached_input_tokens;
    usage.output_tokens = count_of(timings, "predicted_n");
    usage.reported = true;
    return usage;
}

class OpenAiReader final : public StreamReader {
  public:
    void on_event(const SseEvent& event) override {
        if (state_.finished) return;
        if (event.data == "[DONE]") {
            state_.terminal = true;
            state_.finished = true;
            return;
        }
        if (event.data.empty()) return;
        const Json chunk = Json::parse(event.data, nullptr, false);
        if (chunk.is_discarded() || !chunk.is_object()) {
            // Going on would leave a hole in the answer; after its end it does no harm.
            if (!state_.terminal)
                state_.malformed = "an event is not a JSON object: " + one_line(event.data, 80);
            state_.finished = true;
            return;
        }
        take(chunk, event.name == "error");
    }

    void on_document(const Json& document) override {
        take(document, false);
        // A document is whole by itself, even where its finish_reason is null.
        if (!state_.error && document.contains("choices")) state_.terminal = true;
        state_.finished = true;
    }

  private:
    void take(const Json& chunk, bool named_error) {
        if (auto error = api_error_from(chunk, named_error ? 500 : 0)) {
            state_.error = std::move(error);
            state_.finished = true;
            return;
        }
        if (state_.model.empty()) state_.model = text_of(chunk, "model");
        if (state_.id.empty()) state_.id = text_of(chunk, "id");
        if (const auto it = chunk.find("choices"); it != chunk.end() && it->is_array()) {
            for (const auto& choice : *it) {
                if (choice.is_object() && count_of(choice, "index") == 0) take_choice(choice);
            }
        }
        if (const Json* usage = object_of(chunk, "usage"); usage != nullptr && !usage->empty()) {
            state_.usage = usage_of(*usage);
        } else if (const Json* timings = object_of(chunk, "timings"); timings != nullptr) {
            if (!state_.usage.reported) state_.usage = usage_of_timings(*timings);
        }
    }

    void take_choice(const Json& choice) {
        const Json* delta = object_of(choice, "delta");
        if (delta == nullptr) delta = object_of(choice, "message");
        if (delta != nullptr) {
            if (const auto it = delta->find("content"); it != delta->end()) state_.text += content_text(*it);
            const std::string reasoning = text_of(*delta, "reasoning_content");
            state_.reasoning += reasoning.empty() ? text_of(*delta, "reasoning") : reasoning;
            state_.refusal += text_of(*delta, "refusal");
        }
        if (const std::string finish = text_of(choice, "finish_reason"); !finish.empty()) {
            state_.finish_reason = finish;
            state_.terminal = true;
            // OpenRouter puts the error of a provider into the choice.
            if (const Json* error = object_of(choice, "error")) {
                state_.error = api_error_from(Json{{"error", *error}}, 0);
            }
        }
    }
};

std::string without_slash(std::string url) {
    while (url.ends_with('/')) url.pop_back();
    return url;
}

}  // namespace

OpenAiProtocol::OpenAiProtocol(OpenAiSettings settings) : settings_(std::move(settings)) {
    settings_.base_url = without_slash(settings_.base_url);
    // `max_tokens` is the name that local servers know; OpenAI's own models want the new one.
    completion_cap_ = host_of(settings_.base_url) == "api.openai.com";
}

std::string OpenAiProtocol::base_url() const { return url_without_credentials(settings_.base_url); }

std::vector<std::pair<std::string, std::string>> OpenAiProtocol::headers() const {
    std::vector<std::pair<std::string, std::string>> headers;
    if (!settings_.key.empty()) headers.emplace_back("Authorization", "Bearer " + settings_.key);
    if (!settings_.organization.empty()) headers.emplace_back("OpenAI-Organization", settings_.organization);
    if (!settings_.project.empty()) headers.emplace_back("OpenAI-Project", settings_.project);
    return headers;
}

HttpRequest OpenAiProtocol::request(const Prompt& prompt, std::int64_t max_output_tokens) const {
    Json messages = Json::array();
    if (!prompt.system.empty()) messages.push_back(Json{{"role", "system"}, {"content", prompt.system}});
    for (const auto& message : prompt.messages) {
        messages.push_back(
            Json{{"role", message.role == Role::user ? "user" : "assistant"}, {"content", message.content}});
    }
    Json body{{"model", settings_.model}, {"messages", std::move(messages)}, {"stream", true}};
    if (stream_options_) body["stream_options"] = Json{{"include_usage", true}};
    body[completion_cap_ ? "max_completion_tokens" : "max_tokens"] = max_output_tokens;
    if (!settings_.reasoning_effort.empty()) body["reasoning_effort"] = settings_.reasoning_effort;
    if (settings_.temperature) body["temperature"] = *settings_.temperature;

    return stream_request(settings_.base_url + "/chat/completions", headers(), body);
}

HttpRequest OpenAiProtocol::probe() const { return get_request(settings_.base_url + "/models", headers()); }

std::unique_ptr<StreamReader> OpenAiProtocol::reader() const { return std::make_unique<OpenAiReader>(); }

Outcome OpenAiProtocol::outcome_of_finish(const StreamState& state) const {
    const std::string& finish = state.finish_reason;
    if (finish == "length" || finish == "max_tokens" || finish == "model_length") return Outcome::truncated;
    if (finish == "content_filter") return Outcome::content_filter;
    if (finish == "error" || finish == "abort") return Outcome::broken_stream;
    if (!state.refusal.empty() || finish == "refusal") return Outcome::refused;
    return Outcome::complete;  // stop, tool calls that nobody offered, null, "", and names that we do not
                               // know
}

bool OpenAiProtocol::adapt(const ApiError& error) {
    if (error.status != 400 && error.status != 422) return false;
    const auto names = [&error](const std::string& parameter) {
        return error.param == parameter || error.message.find(parameter) != std::string::npos;
    };
    if (stream_options_ && names("stream_options")) {
        stream_options_ = false;
        return true;
    }
    if (!cap_swapped_ && !error.context_exceeded() &&
        (names("max_tokens") || names("max_completion_tokens")) &&
        names(completion_cap_ ? "max_completion_tokens" : "max_tokens")) {
        cap_swapped_ = true;
        completion_cap_ = !completion_cap_;
        return true;
    }
    return false;
}

}  // namespace kernelwright
