#include "harness/authors/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "harness/authors/tokens.h"
#include "harness/core/text.h"

namespace kernelwright {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr std::size_t largest_error_body = 64U << 10;
constexpr int most_adaptations = 3;

bool is_success(int status) { return status >= 200 && status < 300; }

std::string header(const HeaderMap& headers, const char* name) {
    const auto it = headers.find(name);
    return it == headers.end() ? "" : it->second;
}

std::string request_id_of(const HeaderMap& headers) {
    const std::string id = header(headers, "x-request-id");
    return id.empty() ? header(headers, "request-id") : id;
}

// The body of a success: an event stream, or a JSON document from servers that do not stream.
class BodySink {
  public:
    BodySink(StreamReader& reader, std::size_t limit) : reader_(reader), parser_(limit), limit_(limit) {}

    // False when nothing further is wanted.
    bool feed(std::string_view bytes) {
        total_ += bytes.size();
        if (total_ > limit_) {
            too_large_ = true;
            return false;
        }
        if (!decided_) {
            start_ += bytes;
            const std::size_t first = start_.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
            if (first == std::string::npos) return true;
            decided_ = true;
            document_ = start_[first] == '{' || start_[first] == '[';
            if (document_) {
                start_.erase(0, first);
                return true;
            }
            const std::string start = std::exchange(start_, {});
            return feed_events(start);
        }
        if (document_) {
            start_ += bytes;
            return true;
        }
        return feed_events(bytes);
    }

    // The body ended by itself (`whole`) or was cut.
    void finish(bool whole) {
        if (document_) {
            if (!whole || too_large_) return;
            const Json json = Json::parse(start_, nullptr, false);
            if (!json.is_discarded()) reader_.on_document(json);
            return;
        }
        std::vector<SseEvent> events;
        // A cut stream's last, incomplete event is no event.
        if (whole) parser_.finish(events);
        for (const auto& event : events) take(event);
    }

    bool too_large() const { return too_large_ || parser_.too_large(); }
    bool any_event() const { return any_event_; }
    bool empty() const { return total_ == 0; }

  private:
    bool feed_events(std::string_view bytes) {
        std::vector<SseEvent> events;
        parser_.feed(bytes, events);
        for (const auto& event : events) take(event);
        return !reader_.state().finished && !parser_.too_large();
    }
    void take(const SseEvent& event) {
        any_event_ = true;
        reader_.on_event(event);
    }

    StreamReader& reader_;
    SseParser parser_;
    std::size_t limit_;
    std::size_t total_ = 0;
    std::string start_;  // until the kind is known; then the document
    bool decided_ = false;
    bool document_ = false;
    bool too_large_ = false;
    bool any_event_ = false;
};

}  // namespace

struct EndpointAuthor::Attempt {
    HttpResponse response;
    StreamState state;
    std::string error_body;
    bool too_large = false;
    bool any_event = false;
    bool empty_body = true;

    // The judgement.
    Outcome outcome = Outcome::complete;
    std::optional<ApiError> api_error;
    std::string message;  // why the outcome is not complete
    std::string hint;
    bool retryable = false;  // the retry rules are asked
};

EndpointAuthor::EndpointAuthor(std::unique_ptr<Protocol> protocol, EndpointSettings settings, Clock& clock)
    : protocol_(std::move(protocol)), settings_(std::move(settings)), clock_(clock) {
    if (!settings_.random) settings_.random = [] { return 0.0; };
}

std::string EndpointAuthor::describe() const {
    return settings_.secrets.redact(
        one_line(protocol_->name() + " " + protocol_->base_url() + " " + protocol_->model()));
}

bool EndpointAuthor::wait(milliseconds duration, const std::stop_token& stop) const {
    static constexpr milliseconds step{100};
    while (duration.count() > 0) {
        if (stop.stop_requested()) return false;
        const milliseconds part = std::min(step, duration);
        clock_.sleep_for(part);
        duration -= part;
    }
    return !stop.stop_requested();
}

EndpointAuthor::Attempt EndpointAuthor::attempt(const Prompt& prompt, std::int64_t max_output,
                                                const HttpLimits& http, const std::stop_token& stop,
                                                int number, const ProgressCallback& progress) const {
    Attempt result;
    const auto reader = protocol_->reader();
    BodySink sink(*reader, settings_.largest_answer);
    AskProgress told;
    told.attempt = number;
    if (progress) progress(told);
    const auto on_bytes = [&](const HttpResponse& so_far, std::string_view bytes) {
        if (!is_success(so_far.status)) {
            const std::size_t room = largest_error_body - result.error_body.size();
            result.error_body += bytes.substr(0, room);
            return result.error_body.size() < largest_error_body;
        }
        const bool more = sink.feed(bytes);
        const StreamState& state = reader->state();
        if (progress && state.began()) {
            told.phase = state.text.empty() ? AskProgress::Phase::reasoning : AskProgress::Phase::answering;
            told.text_bytes = state.text.size();
            told.reasoning_bytes = state.reasoning.size();
            progress(told);
        }
        return more;
    };
    result.response = http_exchange(protocol_->request(prompt, max_output), http, stop, on_bytes);
    sink.finish(result.response.end == TransferEnd::complete);
    result.state = reader->state();
    result.too_large = sink.too_large();
    result.any_event = sink.any_event();
    result.empty_body = sink.empty();
    judge(result);
    return result;
}

void EndpointAuthor::judge(Attempt& attempt) const {
    const HttpResponse& response = attempt.response;
    StreamState& state = attempt.state;
    if (!state.terminal) state.usage.reported = false;
    if (response.end == TransferEnd::cancelled) {
        attempt.outcome = Outcome::cancelled;
        attempt.message = "cancelled";
        return;
    }
    if (response.status >= 300) {
        ApiError error;
        error.status = response.status;
        const Json body = Json::parse(attempt.error_body, nullptr, false);
        if (auto read = api_error_from(body, response.status)) {
            error = *read;
        } else if (response.status < 400) {
            error.message = "the endpoint redirects to `" +
                            url_without_credentials(header(response.headers, "location")) + "`";
        } else if (attempt.error_body.find('<') == std::string::npos) {
            error.message = attempt.error_body;  // plain text; a page of HTML says nothing in one line
        }
        attempt.api_error = error;
        attempt.outcome = outcome_of(error);
        attempt.message = error.str();
        attempt.retryable = true;
        if (response.status < 400) {
            attempt.hint = "set the base URL to where the endpoint really is";
        } else if (attempt.outcome == Outcome::unauthorized) {
            attempt.hint = "set " + protocol_->key_variable() + " to a key that this endpoint takes";
        } else if (response.status == 404) {
            attempt.hint = protocol_->name() == "openai"
                               ? "is the model's name right, and does the base URL end in /v1?"
                               : "are the model's name and the base URL right?";
        }
        return;
    }
    if (state.error) {
        attempt.api_error = state.error;
        attempt.message = state.error->str() + " (inside the answer)";
        attempt.outcome = state.began() ? Outcome::broken_stream : outcome_of(*state.error);
        // What stands for a wrong request stays wrong; half an answer is not asked for again without the
        // caller's consent, since it was paid for.
        attempt.retryable = !state.began();
        return;
    }
    const bool said_nothing = !state.began() && state.finish_reason.empty() && !state.usage.reported;
    if (state.terminal && said_nothing) {
        attempt.outcome = Outcome::broken_stream;
        attempt.message = "the answer is empty";
        attempt.retryable = true;
        return;
    }
    if (state.terminal) {
        attempt.outcome = protocol_->outcome_of_finish(state);
        switch (attempt.outcome) {
            case Outcome::complete:
                break;
            case Outcome::truncated:
                attempt.message = "the answer reached its cap of output tokens";
                break;
            case Outcome::context_full:
                attempt.message = "prompt and answer do not fit the model's context";
                break;
            case Outcome::refused:
                attempt.message =
                    state.refusal.empty() ? "the model refused" : "the model refused: " + state.refusal;
                break;
            case Outcome::content_filter:
                attempt.message = "the endpoint withheld the answer";
                break;
            default:
                attempt.message = "the endpoint ended the answer with `" + state.finish_reason + "`";
                attempt.retryable = !state.began();
                break;
        }
        return;
    }
    attempt.retryable = !state.began();
    attempt.outcome = Outcome::broken_stream;
    switch (response.end) {
        case TransferEnd::unreachable:
            attempt.outcome = Outcome::unreachable;
            attempt.message = "cannot connect: " + response.message;
            attempt.hint = "is the server running and the base URL right?";
            return;
        case TransferEnd::untrusted:
            attempt.outcome = Outcome::unreachable;
            attempt.message = "the certificate is not trusted: " + response.message;
            attempt.retryable = false;
            return;
        case TransferEnd::bad_request:
            attempt.outcome = Outcome::rejected;
            attempt.message = "the base URL cannot be used: " + response.message;
            attempt.retryable = false;
            return;
        case TransferEnd::stalled:
            if (!state.began()) attempt.outcome = Outcome::timed_out;
            attempt.message = fmt::format("no byte came for {} s", settings_.limits.stall.count());
            return;
        case TransferEnd::out_of_time:
            if (!state.began()) attempt.outcome = Outcome::timed_out;
            attempt.message = "the answer did not end within the time allowed";
            attempt.retryable = false;
            return;
        default:
            break;
    }
    if (attempt.too_large) {
        attempt.message = fmt::format("the answer is larger than {} MiB", settings_.largest_answer >> 20);
        attempt.retryable = false;
    } else if (!state.malformed.empty()) {
        attempt.message = state.malformed;
    } else if (response.end == TransferEnd::complete && !attempt.any_event && !attempt.empty_body) {
        const std::string type = header(response.headers, "content-type");
        attempt.outcome = Outcome::rejected;
        attempt.message = "the answer is neither an event stream nor a chat document" +
                          (type.empty() ? "" : " (content type " + type + ")");
        attempt.hint = "is the base URL that of an " + protocol_->name() + " endpoint?";
        attempt.retryable = false;
    } else if (response.status == 0) {
        attempt.message = "the server closed the connection without an answer";
    } else {
        attempt.message = "the stream ended before the answer did" +
                          (response.message.empty() ? "" : ": " + response.message);
    }
}

Reply EndpointAuthor::ask(const Prompt& prompt, const AskLimits& limits, const ProgressCallback& progress) {
    const auto start = clock_.now();
    const auto elapsed = [&] { return duration_cast<milliseconds>(clock_.now() - start); };
    Prompt clean = prompt;
    clean.system = settings_.secrets.redact_prose(std::move(clean.system));
    for (auto& message : clean.messages) {
        message.content = settings_.secrets.redact_prose(std::move(message.content));
    }
    std::int64_t max_output =
        limits.max_output_tokens > 0 ? limits.max_output_tokens : settings_.max_output_tokens;

    Reply reply;
    int retries = 0;
    int adaptations = 0;
    for (reply.attempts = 1;; ++reply.attempts) {
        HttpLimits http = settings_.limits;
        if (limits.time) http.total = std::min(http.total, *limits.time - elapsed());
        if (http.total.count() <= 0) {
            --reply.attempts;
            reply.outcome = Outcome::timed_out;
            if (reply.error.message.empty()) reply.error.message = "no time is left";
            break;
        }
        Attempt got = attempt(clean, max_output, http, limits.stop, reply.attempts, progress);
        reply.outcome = got.outcome;
        reply.error = Error{got.message, "", 0, 0, got.hint};
        reply.text = std::move(got.state.text);
        reply.reasoning = std::move(got.state.reasoning);
        reply.usage = got.state.usage;
        reply.finish_reason = got.state.finish_reason;
        reply.model = got.state.model;
        reply.request_id = request_id_of(got.response.headers);
        if (reply.request_id.empty() && got.api_error) reply.request_id = got.api_error->request_id;
        if (reply.request_id.empty()) reply.request_id = got.state.id;
        if (got.api_error && !got.state.began() && adaptations < most_adaptations) {
            // The endpoint says how the same request would be taken: in other words, or with a smaller cap.
            const auto smaller = smaller_cap(*got.api_error, max_output);
            if (smaller) max_output = *smaller;
            if (smaller || protocol_->adapt(*got.api_error)) {
                ++adaptations;
                continue;
            }
        }
        if (!got.retryable) break;
        FailedAttempt failed;
        failed.status = got.api_error ? got.api_error->status : 0;
        failed.headers = got.response.headers;
        failed.quota = got.api_error && got.api_error->out_of_quota();
        const RetryDecision decision =
            decide_retry(settings_.retry, failed, retries, clock_.wall(), settings_.random);
        if (!decision.again) {
            if (!decision.why_not.empty()) reply.error.message += "; " + decision.why_not;
            break;
        }
        if (limits.time && elapsed() + decision.wait >= *limits.time) {
            reply.error.message += "; no time is left for another attempt";
            break;
        }
        ++retries;
        if (progress) {
            AskProgress told;
            told.phase = AskProgress::Phase::waiting;
            told.attempt = reply.attempts;
            told.wait = decision.wait;
            told.why = settings_.secrets.redact(one_line(got.message));
            progress(told);
        }
        if (!wait(decision.wait, limits.stop)) {
            reply.outcome = Outcome::cancelled;
            reply.error = Error{"cancelled while waiting to try again after: " + got.message};
            break;
        }
    }
    reply.latency = elapsed();
    if (auto warning = lost_prompt_warning(reply.usage, estimate_tokens(clean))) {
        reply.warnings.push_back(std::move(*warning));
    }
    seal(reply);
    return reply;
}

void EndpointAuthor::seal(Reply& reply) const {
    const Secrets& secrets = settings_.secrets;
    reply.text = secrets.redact_prose(std::move(reply.text));
    reply.reasoning = secrets.redact_prose(std::move(reply.reasoning));
    for (std::string* name : {&reply.finish_reason, &reply.model, &reply.request_id}) {
        *name = one_line(secrets.redact(std::move(*name)), 200);
    }
    if (reply.error.message.empty()) return;
    std::string message = describe() + ": " + one_line(secrets.redact(std::move(reply.error.message)), 600);
    if (reply.attempts > 1) message += fmt::format("; {} attempts", reply.attempts);
    if (!reply.request_id.empty()) message += "; request id " + reply.request_id;
    reply.error.message = std::move(message);
}

EndpointProbe probe_endpoint(const Protocol& protocol, const Secrets& secrets, std::chrono::seconds limit) {
    HttpLimits limits;
    limits.connect = limit;
    limits.stall = limit;
    limits.total = limit;
    constexpr std::size_t enough = 4096;  // to see what kind of text it is
    std::string body;
    const HttpRequest request = protocol.probe();
    const HttpResponse response =
        http_exchange(request, limits, std::stop_token{}, [&](const HttpResponse&, std::string_view bytes) {
            body.append(bytes.substr(0, enough - std::min(enough, body.size())));
            return true;
        });
    EndpointProbe probe;
    probe.status = response.status;
    probe.reachable = response.status != 0;
    const std::string asked = fmt::format("GET {}: {}", url_without_credentials(request.url), probe.status);
    const std::string_view text = trim(body);
    if (!probe.reachable) {
        probe.message = "no answer" + (response.message.empty() ? "" : ": " + response.message);
    } else if (probe.status == 401 || probe.status == 403) {
        probe.message = fmt::format("answers, but does not take the key ({})", asked);
    } else if (probe.status / 100 == 2 && !text.starts_with('{') && !text.starts_with('[')) {
        probe.message = fmt::format("answers, but not as an API does ({}): is the base URL right?", asked);
    } else if (probe.status == 404 || probe.status == 405) {
        // A server without a list of models says nothing against the key.
        probe.accepted = true;
        probe.message = fmt::format("answers, without a list of models ({})", asked);
    } else if (probe.status / 100 == 2) {
        probe.accepted = true;
        probe.message = fmt::format("answers ({})", asked);
    } else {
        probe.message = fmt::format("answers with an error ({})", asked);
    }
    probe.message = secrets.redact(one_line(probe.message));
    return probe;
}

}  // namespace kernelwright
