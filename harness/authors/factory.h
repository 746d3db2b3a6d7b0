// Authors by name: "openai", "anthropic", "replay:FILE". What an endpoint needs is read from the environment:
//   OPENAI_BASE_URL (or OPENAI_API_BASE), OPENAI_API_KEY, OPENAI_ORG_ID, OPENAI_PROJECT_ID
//   ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, ANTHROPIC_CUSTOM_HEADERS
//   KERNELWRIGHT_MODEL, KERNELWRIGHT_REASONING_EFFORT, KERNELWRIGHT_THINKING_TOKENS, KERNELWRIGHT_PRICE
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/authors/author.h"
#include "harness/authors/budget.h"
#include "harness/authors/endpoint.h"
#include "harness/core/clock.h"
#include "harness/core/environment.h"

namespace kernelwright {

struct AuthorConfig {
    std::string model;             // empty: KERNELWRIGHT_MODEL
    std::string base_url;          // empty: from the environment, else the vendor's
    std::string reasoning_effort;  // empty: KERNELWRIGHT_REASONING_EFFORT, else the endpoint's default
    std::optional<double> temperature;
    std::int64_t max_output_tokens = 16384;
    HttpLimits limits;
    RetryPolicy retry;
    EnvironmentReader environment = read_environment;
    std::optional<std::uint64_t> jitter_seed;  // for tests
};

// Why there is no author, and the exit code that this means: 2 the call is wrong, 3 something is missing.
struct AuthorFailure {
    Error error;
    int exit_code = 2;
};

// `clock` outlives the author.
Result<std::unique_ptr<Author>, AuthorFailure> make_author(const std::string& spec,
                                                           const AuthorConfig& config, Clock& clock);

// The price that KERNELWRIGHT_PRICE names ("in=3,cached=0.3,out=15", US dollars per million tokens); nullopt:
// none.
Result<std::optional<Price>> configured_price(const AuthorConfig& config);

// What the environment says about one kind of endpoint, for `doctor`: never a value that could be a secret.
struct EndpointFacts {
    std::string protocol;  // "openai", "anthropic"
    std::string base_url;  // without credentials
    std::string model;     // "" when none is named
    struct Variable {
        std::string name;
        bool set = false;
    };
    std::vector<Variable> variables;
    bool usable = false;  // an author can be made
    std::string problem;  // one line; why not, or what is doubtful
    std::optional<EndpointProbe> probe;
};
// `probe`: also asks each endpoint that is usable whether it answers (takes up to 3 s each).
std::vector<EndpointFacts> endpoint_facts(const AuthorConfig& config, bool probe);

}  // namespace kernelwright
