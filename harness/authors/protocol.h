// What differs between endpoints: how a request is written and how its answer is read. A protocol knows
// nothing of sockets, retries or clocks: requests are values, answers are fed to a StreamReader event by
// event.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/authors/author.h"
#include "harness/authors/http.h"
#include "harness/authors/sse.h"
#include "harness/core/json.h"

namespace kernelwright {

// An error as an endpoint words it, in a body or inside a stream.
struct ApiError {
    int status = 0;  // of the response; inside a 200 stream the status that the error stands for
    std::string type, code, param, message, request_id;
    bool out_of_quota() const;      // the account is empty: waiting does not help
    bool context_exceeded() const;  // the prompt does not fit
    std::string str() const;        // "429 rate_limit_error: message"
};

// Reads the error shapes that are met in the wild: {"error": {...}}, {"error": "..."}, {"object": "error",
// ...},
// {"type": "error", "error": {...}}, {"detail": ...}. nullopt: the document holds no error.
std::optional<ApiError> api_error_from(const Json& document, int status);
// The outcome that an error stands for once no further retry is made.
Outcome outcome_of(const ApiError& error);

// Where an endpoint refuses a request because its cap on the output is larger than the model's own, or does
// not fit its context beside the prompt, and says by how much: a cap that it would take. nullopt: it is about
// something else, or what would be left is too small for an answer.
std::optional<std::int64_t> smaller_cap(const ApiError& error, std::int64_t cap);

// What an answer has brought so far.
struct StreamState {
    std::string text, reasoning, refusal;
    std::string finish_reason, model, id;
    Usage usage;
    bool terminal = false;  // the event that ends an answer was seen
    bool finished = false;  // nothing further will come: stop reading
    std::optional<ApiError> error;
    std::string malformed;  // what was wrong with the first event that could not be read
    bool began() const { return !text.empty() || !reasoning.empty() || !refusal.empty(); }
};

class StreamReader {
  public:
    virtual ~StreamReader() = default;
    virtual void on_event(const SseEvent& event) = 0;
    // The whole answer as one document (some servers do not stream even when they are asked to).
    virtual void on_document(const Json& document) = 0;
    const StreamState& state() const { return state_; }

  protected:
    StreamState state_;
};

class Protocol {
  public:
    virtual ~Protocol() = default;
    virtual std::string name() const = 0;
    virtual std::string base_url() const = 0;  // without credentials
    virtual std::string model() const = 0;
    virtual std::string key_variable() const = 0;  // the environment variable that a missing key belongs in
    virtual HttpRequest request(const Prompt& prompt, std::int64_t max_output_tokens) const = 0;
    virtual HttpRequest probe() const = 0;  // a cheap request that shows whether the endpoint answers
    virtual std::unique_ptr<StreamReader> reader() const = 0;
    // The outcome of an answer whose terminal event was seen.
    virtual Outcome outcome_of_finish(const StreamState& state) const = 0;
    // The endpoint called the request wrong: true when it can be said in another way, which the next request
    // does.
    virtual bool adapt(const ApiError& /*error*/) { return false; }
};

// Requests as every endpoint wants them: a JSON document whose answer may stream, and a page that is read.
using HeaderList = std::vector<std::pair<std::string, std::string>>;
HttpRequest stream_request(std::string url, HeaderList headers, const Json& body);
HttpRequest get_request(std::string url, HeaderList headers);

// Helpers for readers: a member as a string ("" when it is absent, null or of another kind) and as a count
// (0 likewise; negative and absurd numbers are 0).
std::string text_of(const Json& object, const char* key);
std::int64_t count_of(const Json& object, const char* key);
// The member when it is an object, else nullptr.
const Json* object_of(const Json& object, const char* key);
// A `content` that is a string, null, or an array of {type: text, text: ...} parts.
std::string content_text(const Json& content);

}  // namespace kernelwright
