#include "harness/authors/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "harness/authors/redact.h"

namespace kernelwright {
namespace {

bool contains_any(const std::string& text, std::initializer_list<const char*> needles) {
    return std::any_of(needles.begin(), needles.end(),
                       [&](const char* needle) { return text.find(needle) != std::string::npos; });
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

// The status that an error inside a 200 stream stands for.
int implied_status(const ApiError& error) {
    static constexpr std::array<std::pair<const char*, int>, 16> known{{
        {"invalid_request_error", 400},
        {"authentication_error", 401},
        {"billing_error", 402},
        {"insufficient_quota", 429},
        {"permission_error", 403},
        {"not_found_error", 404},
        {"timeout_error", 408},
        {"request_too_large", 413},
        {"rate_limit_error", 429},
        {"rate_limit_exceeded", 429},
        {"overloaded_error", 529},
        {"api_error", 500},
        {"server_error", 500},
        {"exceed_context_size_error", 400},
        {"context_length_exceeded", 400},
        {"BadRequestError", 400},
    }};
    if (error.code.size() == 3 && error.code.find_first_not_of("0123456789") == std::string::npos) {
        const int status = std::stoi(error.code);
        if (status >= 400 && status < 600) return status;
    }
    for (const auto& [name, status] : known) {
        if (error.type == name || error.code == name) return status;
    }
    return 500;
}

// `code` is a string with some endpoints and a number with others.
std::string word_of(const Json& object, const char* key) {
    const auto it = object.find(key);
    if (it == object.end()) return "";
    if (it->is_string()) return it->get<std::string>();
    if (it->is_number_integer()) return it->dump();
    return "";
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The digits of `text` from `first` on, as a number; 0: there are none, or too many for a token count.
std::int64_t number_at(std::string_view text, std::size_t first) {
    constexpr std::size_t most_digits = 12;
    std::size_t last = first;
    while (last < text.size() && is_digit(text[last])) ++last;
    if (last == first || last - first > most_digits) return 0;
    return std::stoll(std::string(text.substr(first, last - first)));
}

// The number right before one of the `endings`; 0: there is none.
std::int64_t number_before(std::string_view text, std::initializer_list<std::string_view> endings) {
    for (const std::string_view ending : endings) {
        for (std::size_t at = text.find(ending); at != std::string_view::npos;
             at = text.find(ending, at + 1)) {
            std::size_t first = at;
            while (first > 0 && is_digit(text[first - 1])) --first;
            if (const std::int64_t number = number_at(text, first); number > 0) return number;
        }
    }
    return 0;
}

// The number right after `start`; 0: there is none.
std::int64_t number_after(std::string_view text, std::string_view start) {
    for (std::size_t at = text.find(start); at != std::string_view::npos; at = text.find(start, at + 1)) {
        if (const std::int64_t number = number_at(text, at + start.size()); number > 0) return number;
    }
    return 0;
}

}  // namespace

bool ApiError::out_of_quota() const {
    return status == 402 || code == "insufficient_quota" || type == "insufficient_quota" ||
           type == "billing_error" || contains_any(lower(message), {"credit balance is too low"});
}

bool ApiError::context_exceeded() const {
    if (code == "context_length_exceeded" || type == "exceed_context_size_error" ||
        type == "request_too_large" || status == 413) {
        return true;
    }
    return status == 400 &&
           contains_any(lower(message), {"maximum context length", "prompt is too long", "context window",
                                         "exceeds the available context size"});
}

std::string ApiError::str() const {
    std::string out = status != 0 ? std::to_string(status) : "";
    const std::string& kind =
        !code.empty() && code.find_first_not_of("0123456789") != std::string::npos ? code : type;
    if (!kind.empty()) out += (out.empty() ? "" : " ") + kind;
    if (!message.empty()) out += (out.empty() ? "" : ": ") + message;
    return one_line(out.empty() ? "an error without a message" : out);
}

std::optional<ApiError> api_error_from(const Json& document, int status) {
    if (!document.is_object()) return std::nullopt;
    ApiError error;
    error.status = status;
    error.request_id = text_of(document, "request_id");
    const Json* body = object_of(document, "error");
    if (body == nullptr && (text_of(document, "object") == "error" || text_of(document, "type") == "error")) {
        body = &document;
    }
    if (body != nullptr) {
        error.type = text_of(*body, "type");
        error.code = word_of(*body, "code");
        error.param = text_of(*body, "param");
        error.message = text_of(*body, "message");
    } else if (const std::string plain = text_of(document, "error"); !plain.empty()) {
        error.message = plain;
    } else if (const auto it = document.find("detail"); it != document.end() && status >= 400) {
        error.message = it->is_string() ? it->get<std::string>()
                                        : it->dump(-1, ' ', false, Json::error_handler_t::replace);
    } else if (const std::string bare = text_of(document, "message"); !bare.empty() && status >= 400) {
        error.message = bare;
    } else {
        return std::nullopt;
    }
    if (error.status < 400) error.status = implied_status(error);
    return error;
}

Outcome outcome_of(const ApiError& error) {
    if (error.out_of_quota()) return Outcome::quota_exhausted;
    if (error.context_exceeded()) return Outcome::context_full;
    if (error.code == "content_filter" || error.code == "content_policy_violation") {
        return Outcome::content_filter;
    }
    if (error.status == 401 || error.status == 403) return Outcome::unauthorized;
    if (error.status == 429) return Outcome::rate_limited;
    if (error.status == 408 || error.status == 409 || error.status >= 500) return Outcome::endpoint_error;
    return Outcome::rejected;
}

std::optional<std::int64_t> smaller_cap(const ApiError& error, std::int64_t cap) {
    static constexpr std::int64_t least_useful = 256;
    if (error.status != 400 && error.status != 422) return std::nullopt;
    const std::string message = lower(error.message).substr(0, 2000);
    std::int64_t smaller = 0;
    // "This model's maximum context length is 8192 tokens. However, you requested 17000 tokens (616 in the
    // messages, 16384 in the completion)"; "... and your request has 616 input tokens"
    if (const std::int64_t context = number_after(message, "maximum context length is "); context > 0) {
        const std::int64_t prompt =
            number_before(message, {" input tokens", " in the messages", " in your prompt"});
        if (prompt > 0) smaller = context - prompt;
    } else if (message.find("supports at most ") != std::string::npos) {
        // "max_tokens is too large: 16384. This model supports at most 4096 completion tokens"
        smaller = number_before(message, {" completion tokens", " output tokens"});
    } else {
        // "max_tokens: 16384 > 8192, which is the maximum allowed number of output tokens"
        smaller = number_before(message, {", which is the maximum allowed number of output tokens"});
    }
    if (smaller < least_useful || smaller >= cap) return std::nullopt;
    return smaller;
}

HttpRequest stream_request(std::string url, HeaderList headers, const Json& body) {
    headers.emplace_back("Content-Type", "application/json");
    headers.emplace_back("Accept", "text/event-stream, application/json");
    // A prompt may hold a candidate's bytes, which need not be UTF-8.
    return {std::move(url), std::move(headers), body.dump(-1, ' ', false, Json::error_handler_t::replace),
            false};
}

HttpRequest get_request(std::string url, HeaderList headers) {
    return {std::move(url), std::move(headers), "", true};
}

std::string text_of(const Json& object, const char* key) {
    if (!object.is_object()) return "";
    const auto it = object.find(key);
    return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

std::int64_t count_of(const Json& object, const char* key) {
    if (!object.is_object()) return 0;
    const auto it = object.find(key);
    if (it == object.end() || !it->is_number()) return 0;
    const double value = it->get<double>();
    if (!(value >= 0) || value > 1e12) return 0;
    return static_cast<std::int64_t>(value);
}

const Json* object_of(const Json& object, const char* key) {
    if (!object.is_object()) return nullptr;
    const auto it = object.find(key);
    return it != object.end() && it->is_object() ? &*it : nullptr;
}

std::string content_text(const Json& content) {
    if (content.is_string()) return content.get<std::string>();
    std::string text;
    if (content.is_array()) {
        for (const auto& part : content) {
            if (part.is_string()) {
                text += part.get<std::string>();
            } else {
                text += text_of(part, "text");
            }
        }
    }
    return text;
}

}  // namespace kernelwright
