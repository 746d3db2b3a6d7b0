// An author turns a prompt into an answer: a language model behind an endpoint, or a recorded conversation.
// Everything that can go wrong with one request is an outcome of the reply, never an exception: the search
// decides what to do next from the outcome alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/core/json.h"
#include "harness/core/result.h"

namespace kernelwright {

enum class Role { user, assistant };

struct ChatMessage {
    Role role = Role::user;
    std::string content;
    bool operator==(const ChatMessage&) const = default;
};

// What does not change between turns comes first (`system`, then the first user message), byte for byte the
// same each time: caches of every endpoint work on prefixes.
struct Prompt {
    std::string system;
    std::vector<ChatMessage> messages;
    bool operator==(const Prompt&) const = default;
};

// Tokens of one request, in one meaning for all endpoints.
struct Usage {
    std::int64_t input_tokens = 0;         // all of the prompt, cached parts included
    std::int64_t cached_input_tokens = 0;  // of these, read from a cache
    std::int64_t cache_write_tokens = 0;   // of these, written to a cache
    std::int64_t output_tokens = 0;        // reasoning included
    std::int64_t reasoning_tokens = 0;     // of these, reasoning (0 where the endpoint does not say)
    bool reported = false;                 // the endpoint gave final numbers; else what is known so far
    bool operator==(const Usage&) const = default;
};

enum class Outcome {
    complete,         // the answer is whole
    truncated,        // the output cap was reached: what is there is not a whole answer
    context_full,     // prompt and answer do not fit the model's context
    refused,          // the model declined
    content_filter,   // the endpoint withheld the answer
    broken_stream,    // the stream ended, stalled or failed after the answer had begun
    timed_out,        // no answer within the time allowed
    rate_limited,     // still told to wait after all retries
    quota_exhausted,  // the account has nothing left
    unauthorized,     // no key, or one that the endpoint does not take
    rejected,         // the endpoint calls the request wrong (unknown model, bad parameter)
    endpoint_error,   // the endpoint failed (5xx, overloaded) after all retries
    unreachable,      // no connection
    cancelled,        // told to stop
    exhausted,        // a recorded conversation has no further turn
};

const char* to_string(Outcome outcome);
std::optional<Outcome> parse_outcome(const std::string& name);
// True when a model answered, wholly or in part (the outcomes that a recording keeps).
bool is_answer(Outcome outcome);
// The exit code of a run that cannot go on after this outcome: 3 something needed is missing (unreachable,
// unauthorized, quota), 2 the call is wrong (rejected), 130 cancelled; nullopt: the run may go on.
std::optional<int> exit_code(Outcome outcome);

struct Reply {
    Outcome outcome = Outcome::complete;
    std::string text;
    std::string reasoning;
    Usage usage;
    std::string finish_reason;  // as the endpoint wrote it
    std::string request_id;
    std::string model;  // as the endpoint names it
    int attempts = 1;   // requests sent, retries included
    std::chrono::milliseconds latency{0};
    Error error;                        // message empty when the outcome is complete
    std::vector<std::string> warnings;  // one line each

    bool complete() const { return outcome == Outcome::complete; }
};

Json to_json(const Usage& usage);
Json to_json(const Reply& reply);
Result<Usage> usage_from_json(const Json& json);
Result<Reply> reply_from_json(const Json& json);
// The prompt as canonical JSON, and its SHA-256: two prompts agree exactly when these do.
Json to_json(const Prompt& prompt);
std::string prompt_sha256(const Prompt& prompt);

struct AskLimits {
    std::int64_t max_output_tokens = 0;             // 0: the author's default
    std::optional<std::chrono::milliseconds> time;  // for the whole ask, retries and waits included
    std::stop_token stop = {};                      // works at any moment, also in the middle of a stream
};

// How an ask is getting on, for a status line.
struct AskProgress {
    enum class Phase { connecting, reasoning, answering, waiting } phase = Phase::connecting;
    std::size_t text_bytes = 0;
    std::size_t reasoning_bytes = 0;
    int attempt = 1;
    std::chrono::milliseconds wait{0};  // phase waiting: until the next attempt
    std::string why;                    // phase waiting: what failed
};
using ProgressCallback = std::function<void(const AskProgress&)>;

class Author {
  public:
    virtual ~Author() = default;
    // One answer. Blocks; asks of one author are made one after the other.
    virtual Reply ask(const Prompt& prompt, const AskLimits& limits, const ProgressCallback& progress) = 0;
    Reply ask(const Prompt& prompt) { return ask(prompt, AskLimits{}, ProgressCallback{}); }
    // Where the answers come from, without secrets: "openai http://127.0.0.1:8000/v1 model-name".
    virtual std::string describe() const = 0;
    // A resumed run has consumed this many answers already: a recorded conversation goes on after them.
    virtual void skip_turns(int /*turns*/) {}
};

}  // namespace kernelwright
