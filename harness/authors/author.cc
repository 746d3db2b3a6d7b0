#include "harness/authors/author.h"

#include <array>
#include <utility>

#include "harness/core/hash.h"

namespace kernelwright {
namespace {

constexpr std::array<std::pair<Outcome, const char*>, 15> outcome_names{{
    {Outcome::complete, "complete"},
    {Outcome::truncated, "truncated"},
    {Outcome::context_full, "context_full"},
    {Outcome::refused, "refused"},
    {Outcome::content_filter, "content_filter"},
    {Outcome::broken_stream, "broken_stream"},
    {Outcome::timed_out, "timed_out"},
    {Outcome::rate_limited, "rate_limited"},
    {Outcome::quota_exhausted, "quota_exhausted"},
    {Outcome::unauthorized, "unauthorized"},
    {Outcome::rejected, "rejected"},
    {Outcome::endpoint_error, "endpoint_error"},
    {Outcome::unreachable, "unreachable"},
    {Outcome::cancelled, "cancelled"},
    {Outcome::exhausted, "exhausted"},
}};

// Reads `key` of `json` into `to` when it is there; false when it has the wrong kind.
bool read(const Json& json, const char* key, std::string& to) {
    const auto it = json.find(key);
    if (it == json.end()) return true;
    if (!it->is_string()) return false;
    to = it->get<std::string>();
    return true;
}

bool read(const Json& json, const char* key, std::int64_t& to) {
    const auto it = json.find(key);
    if (it == json.end()) return true;
    if (!it->is_number_integer()) return false;
    if (it->is_number_unsigned() && it->get<std::uint64_t>() > INT64_MAX) return false;
    to = it->get<std::int64_t>();
    return to >= 0;
}

bool read(const Json& json, const char* key, bool& to) {
    const auto it = json.find(key);
    if (it == json.end()) return true;
    if (!it->is_boolean()) return false;
    to = it->get<bool>();
    return true;
}

}  // namespace

const char* to_string(Outcome outcome) {
    for (const auto& [value, name] : outcome_names) {
        if (value == outcome) return name;
    }
    return "unknown";
}

std::optional<Outcome> parse_outcome(const std::string& name) {
    for (const auto& [value, known] : outcome_names) {
        if (name == known) return value;
    }
    return std::nullopt;
}

bool is_answer(Outcome outcome) {
    switch (outcome) {
        case Outcome::complete:
        case Outcome::truncated:
        case Outcome::context_full:
        case Outcome::refused:
        case Outcome::content_filter:
        case Outcome::broken_stream:
            return true;
        default:
            return false;
    }
}

std::optional<int> exit_code(Outcome outcome) {
    switch (outcome) {
        case Outcome::unreachable:
        case Outcome::unauthorized:
        case Outcome::quota_exhausted:
        case Outcome::endpoint_error:
        case Outcome::rate_limited:
        case Outcome::timed_out:
            return 3;
        case Outcome::rejected:
            return 2;
        case Outcome::cancelled:
            return 130;
        default:
            return std::nullopt;
    }
}

Json to_json(const Usage& usage) {
    return Json{{"input_tokens", usage.input_tokens},
                {"cached_input_tokens", usage.cached_input_tokens},
                {"cache_write_tokens", usage.cache_write_tokens},
                {"output_tokens", usage.output_tokens},
                {"reasoning_tokens", usage.reasoning_tokens},
                {"reported", usage.reported}};
}

Json to_json(const Reply& reply) {
    Json json{{"outcome", to_string(reply.outcome)},
              {"text", reply.text},
              {"reasoning", reply.reasoning},
              {"usage", to_json(reply.usage)},
              {"finish_reason", reply.finish_reason},
              {"request_id", reply.request_id},
              {"model", reply.model},
              {"attempts", reply.attempts},
              {"latency_ms", reply.latency.count()}};
    if (!reply.error.message.empty()) {
        json["error"] = reply.error.message;
        if (!reply.error.hint.empty()) json["hint"] = reply.error.hint;
    }
    if (!reply.warnings.empty()) json["warnings"] = reply.warnings;
    return json;
}

Result<Usage> usage_from_json(const Json& json) {
    if (!json.is_object()) return Error{"`usage` is not an object"};
    Usage usage;
    if (!read(json, "input_tokens", usage.input_tokens) ||
        !read(json, "cached_input_tokens", usage.cached_input_tokens) ||
        !read(json, "cache_write_tokens", usage.cache_write_tokens) ||
        !read(json, "output_tokens", usage.output_tokens) ||
        !read(json, "reasoning_tokens", usage.reasoning_tokens) || !read(json, "reported", usage.reported)) {
        return Error{"`usage` holds an entry that is not a token count"};
    }
    return usage;
}

Result<Reply> reply_from_json(const Json& json) {
    if (!json.is_object()) return Error{"a reply is not a JSON object"};
    Reply reply;
    std::string outcome = "complete";
    std::int64_t attempts = 1;
    std::int64_t latency = 0;
    if (!json.contains("text")) return Error{"a reply has no `text`"};
    if (!read(json, "outcome", outcome) || !read(json, "text", reply.text) ||
        !read(json, "reasoning", reply.reasoning) || !read(json, "finish_reason", reply.finish_reason) ||
        !read(json, "request_id", reply.request_id) || !read(json, "model", reply.model) ||
        !read(json, "attempts", attempts) || !read(json, "latency_ms", latency) ||
        !read(json, "error", reply.error.message) || !read(json, "hint", reply.error.hint)) {
        return Error{"a reply holds an entry of the wrong kind"};
    }
    const auto known = parse_outcome(outcome);
    if (!known) return Error{"unknown outcome `" + outcome + "`"};
    reply.outcome = *known;
    reply.attempts = static_cast<int>(attempts);
    reply.latency = std::chrono::milliseconds(latency);
    if (const auto it = json.find("usage"); it != json.end()) {
        auto usage = usage_from_json(*it);
        if (!usage) return usage.error();
        reply.usage = *usage;
    }
    if (const auto it = json.find("warnings"); it != json.end() && it->is_array()) {
        for (const auto& warning : *it) {
            if (warning.is_string()) reply.warnings.push_back(warning.get<std::string>());
        }
    }
    return reply;
}

Json to_json(const Prompt& prompt) {
    Json messages = Json::array();
    for (const auto& message : prompt.messages) {
        messages.push_back(
            Json{{"role", message.role == Role::user ? "user" : "assistant"}, {"content", message.content}});
    }
    return Json{{"system", prompt.system}, {"messages", std::move(messages)}};
}

std::string prompt_sha256(const Prompt& prompt) {
    return sha256_hex(to_json(prompt).dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace kernelwright
