// An author behind an HTTP endpoint: sends a protocol's request, feeds the answer to its reader, tries again
// where the retry rules say so, and turns whatever happened into one Reply without a secret in it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "harness/authors/author.h"
#include "harness/authors/http.h"
#include "harness/authors/protocol.h"
#include "harness/authors/redact.h"
#include "harness/authors/retry.h"
#include "harness/core/clock.h"

namespace kernelwright {

struct EndpointSettings {
    HttpLimits limits;
    RetryPolicy retry;
    std::int64_t max_output_tokens = 16384;  // where the ask names none
    std::size_t largest_answer = 64U << 20;  // bytes of a response; more is a broken answer
    Secrets secrets;
    std::function<double()> random;  // in [0, 1), for jitter
};

class EndpointAuthor final : public Author {
  public:
    // `clock` outlives the author.
    EndpointAuthor(std::unique_ptr<Protocol> protocol, EndpointSettings settings, Clock& clock);

    using Author::ask;
    Reply ask(const Prompt& prompt, const AskLimits& limits, const ProgressCallback& progress) override;
    std::string describe() const override;

  private:
    struct Attempt;  // what one request brought
    Attempt attempt(const Prompt& prompt, std::int64_t max_output, const HttpLimits& http,
                    const std::stop_token& stop, int number, const ProgressCallback& progress) const;
    void judge(Attempt& attempt) const;
    void seal(Reply& reply) const;  // redacts, and words the error
    // Sleeps in short steps; false when told to stop.
    bool wait(std::chrono::milliseconds duration, const std::stop_token& stop) const;

    std::unique_ptr<Protocol> protocol_;
    EndpointSettings settings_;
    Clock& clock_;
};

// A GET on the endpoint's list of models: does it answer as such an endpoint does, and does it take the key?
struct EndpointProbe {
    bool reachable = false;
    bool accepted = false;  // an endpoint that took the key (or needs none)
    int status = 0;
    std::string message;  // one line
};
EndpointProbe probe_endpoint(const Protocol& protocol, const Secrets& secrets,
                             std::chrono::seconds limit = std::chrono::seconds(3));

}  // namespace kernelwright
