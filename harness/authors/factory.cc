#include "harness/authors/factory.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <random>

#include "harness/authors/anthropic.h"
#include "harness/authors/openai.h"
#include "harness/authors/replay.h"
#include "harness/core/text.h"

namespace kernelwright {
namespace {

AuthorFailure wrong(std::string message, std::string hint = "") {
    return {Error{std::move(message), "", 0, 0, std::move(hint)}, 2};
}
AuthorFailure missing(std::string message, std::string hint = "") {
    return {Error{std::move(message), "", 0, 0, std::move(hint)}, 3};
}

class Settings {
  public:
    explicit Settings(const AuthorConfig& config) : config_(config) {}

    // The variable's value without blanks around it (keys read from files often end in a newline).
    std::string value(const char* name) const {
        const auto raw = config_.environment ? config_.environment(name) : std::nullopt;
        return raw ? std::string(trim(*raw)) : "";
    }
    std::string first(std::initializer_list<const char*> names) const {
        for (const char* name : names) {
            if (*name == '\0') continue;
            if (std::string found = value(name); !found.empty()) return found;
        }
        return "";
    }
    std::string model() const { return config_.model.empty() ? value("KERNELWRIGHT_MODEL") : config_.model; }
    std::string effort() const {
        return config_.reasoning_effort.empty() ? value("KERNELWRIGHT_REASONING_EFFORT")
                                                : config_.reasoning_effort;
    }
    const AuthorConfig& config() const { return config_; }

  private:
    const AuthorConfig& config_;
};

struct Endpoint {
    std::unique_ptr<Protocol> protocol;
    Secrets secrets;
};
using MadeEndpoint = Result<Endpoint, AuthorFailure>;

// A header's value must be one line of printable bytes.
std::optional<AuthorFailure> unusable_value(const char* name, const std::string& value) {
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
            return wrong(std::string(name) + " holds a line break or a control character",
                         "set it to the bare key");
        }
    }
    return std::nullopt;
}

std::optional<AuthorFailure> unusable_url(const char* name, const std::string& url) {
    const bool known_scheme = url.starts_with("http://") || url.starts_with("https://");
    if (known_scheme && !host_of(url).empty() && url.find_first_of(" \t\r\n") == std::string::npos) {
        return std::nullopt;
    }
    return wrong(fmt::format("{} is not a URL: `{}`", name, one_line(url_without_credentials(url), 120)),
                 "a base URL looks like http://127.0.0.1:8000/v1");
}

// User name and password of a URL are secrets as well.
void add_url_credentials(Secrets& secrets, const std::string& url) {
    const std::string bare = url_without_credentials(url);
    if (bare == url) return;
    const std::size_t start = url.find("://") + 3;
    const std::string credentials = url.substr(start, url.size() - bare.size() - 1);
    secrets.add(credentials);
    if (const std::size_t colon = credentials.find(':'); colon != std::string::npos) {
        secrets.add(credentials.substr(colon + 1));
    }
}

AuthorFailure no_model() { return wrong("no model is named", "pass --model NAME or set KERNELWRIGHT_MODEL"); }

// What else is missing, said in one line with the key.
std::string and_no_model(const Settings& settings) {
    return settings.model().empty() ? ", and no model is named (--model NAME or KERNELWRIGHT_MODEL)" : "";
}

MadeEndpoint make_openai(const Settings& settings) {
    OpenAiSettings openai;
    const std::string url = settings.config().base_url.empty()
                                ? settings.first({"OPENAI_BASE_URL", "OPENAI_API_BASE"})
                                : settings.config().base_url;
    if (!url.empty()) openai.base_url = url;
    if (auto failure = unusable_url("OPENAI_BASE_URL", openai.base_url)) return *failure;
    openai.key = settings.value("OPENAI_API_KEY");
    if (auto failure = unusable_value("OPENAI_API_KEY", openai.key)) return *failure;
    // Other servers, and all on this machine, may need no key; they say so themselves if they do.
    if (openai.key.empty() && host_of(openai.base_url) == "api.openai.com") {
        return missing("OPENAI_API_KEY is not set" + and_no_model(settings),
                       "set it, or point OPENAI_BASE_URL at a server of your own, such as "
                       "http://127.0.0.1:8000/v1");
    }
    openai.model = settings.model();
    if (openai.model.empty()) return no_model();
    openai.organization = settings.value("OPENAI_ORG_ID");
    openai.project = settings.value("OPENAI_PROJECT_ID");
    for (const auto& [name, value] : {std::pair{"OPENAI_ORG_ID", &openai.organization},
                                      std::pair{"OPENAI_PROJECT_ID", &openai.project}}) {
        if (auto failure = unusable_value(name, *value)) return *failure;
    }
    openai.reasoning_effort = settings.effort();
    openai.temperature = settings.config().temperature;
    Endpoint endpoint;
    endpoint.secrets.add(openai.key);
    add_url_credentials(endpoint.secrets, openai.base_url);
    endpoint.protocol = std::make_unique<OpenAiProtocol>(std::move(openai));
    return endpoint;
}

MadeEndpoint make_anthropic(const Settings& settings) {
    AnthropicSettings anthropic;
    const std::string url = settings.config().base_url.empty() ? settings.value("ANTHROPIC_BASE_URL")
                                                               : settings.config().base_url;
    if (!url.empty()) anthropic.base_url = url;
    if (auto failure = unusable_url("ANTHROPIC_BASE_URL", anthropic.base_url)) return *failure;
    anthropic.key = settings.value("ANTHROPIC_API_KEY");
    anthropic.auth_token = settings.value("ANTHROPIC_AUTH_TOKEN");
    if (auto failure = unusable_value("ANTHROPIC_API_KEY", anthropic.key)) return *failure;
    if (auto failure = unusable_value("ANTHROPIC_AUTH_TOKEN", anthropic.auth_token)) return *failure;
    auto headers = parse_custom_headers(settings.value("ANTHROPIC_CUSTOM_HEADERS"));
    if (!headers) return AuthorFailure{headers.error(), 2};
    anthropic.custom_headers = *headers;
    for (const auto& [name, value] : anthropic.custom_headers) {
        if (auto failure = unusable_value("ANTHROPIC_CUSTOM_HEADERS", value)) return *failure;
    }
    if (anthropic.key.empty() && anthropic.auth_token.empty() &&
        host_of(anthropic.base_url) == "api.anthropic.com") {
        return missing("neither ANTHROPIC_API_KEY nor ANTHROPIC_AUTH_TOKEN is set" + and_no_model(settings),
                       "set one, or point ANTHROPIC_BASE_URL at a server of your own");
    }
    anthropic.model = settings.model();
    if (anthropic.model.empty()) return no_model();
    anthropic.effort = settings.effort();
    if (const std::string budget = settings.value("KERNELWRIGHT_THINKING_TOKENS"); !budget.empty()) {
        const char* const end = budget.data() + budget.size();
        const auto [at, error] = std::from_chars(budget.data(), end, anthropic.thinking_tokens);
        if (error != std::errc() || at != end || anthropic.thinking_tokens < 0) {
            return wrong("KERNELWRIGHT_THINKING_TOKENS is not a number of tokens: `" + one_line(budget, 40) +
                         "`");
        }
    }
    anthropic.temperature = settings.config().temperature;
    Endpoint endpoint;
    endpoint.secrets.add(anthropic.key);
    endpoint.secrets.add(anthropic.auth_token);
    for (const auto& header : anthropic.custom_headers) endpoint.secrets.add(header.second);
    add_url_credentials(endpoint.secrets, anthropic.base_url);
    endpoint.protocol = std::make_unique<AnthropicProtocol>(std::move(anthropic));
    return endpoint;
}

MadeEndpoint make_endpoint(const std::string& name, const AuthorConfig& config) {
    const Settings settings(config);
    return name == "openai" ? make_openai(settings) : make_anthropic(settings);
}

}  // namespace

Result<std::unique_ptr<Author>, AuthorFailure> make_author(const std::string& spec,
                                                           const AuthorConfig& config, Clock& clock) {
    if (spec.starts_with("replay:")) {
        auto replay = ReplayAuthor::open(spec.substr(7));
        if (!replay) return AuthorFailure{replay.error(), 2};
        return std::unique_ptr<Author>(std::move(*replay));
    }
    if (spec == "replay") return wrong("`replay` needs a file", "--author replay:FILE");
    if (spec != "openai" && spec != "anthropic") {
        return wrong("unknown author `" + one_line(spec, 80) + "`" +
                         did_you_mean(spec, {"openai", "anthropic", "replay"}),
                     "openai, anthropic or replay:FILE");
    }
    auto endpoint = make_endpoint(spec, config);
    if (!endpoint) return endpoint.error();
    EndpointSettings settings;
    settings.limits = config.limits;
    settings.retry = config.retry;
    settings.max_output_tokens = config.max_output_tokens;
    settings.secrets = std::move(endpoint->secrets);
    const std::uint64_t seed = config.jitter_seed ? *config.jitter_seed : std::random_device{}();
    settings.random = [engine = std::mt19937_64(seed)]() mutable {
        return std::uniform_real_distribution<double>(0, 1)(engine);
    };
    return std::unique_ptr<Author>(
        std::make_unique<EndpointAuthor>(std::move(endpoint->protocol), std::move(settings), clock));
}

Result<std::optional<Price>> configured_price(const AuthorConfig& config) {
    const std::string text = Settings(config).value("KERNELWRIGHT_PRICE");
    if (text.empty()) return std::optional<Price>{};
    auto price = parse_price(text);
    if (!price) {
        price.error().message = "KERNELWRIGHT_PRICE: " + price.error().message;
        return price.error();
    }
    return std::optional<Price>{*price};
}

std::vector<EndpointFacts> endpoint_facts(const AuthorConfig& config, bool probe) {
    const Settings settings(config);
    std::vector<EndpointFacts> all;
    for (const char* protocol : {"openai", "anthropic"}) {
        EndpointFacts facts;
        facts.protocol = protocol;
        const bool openai = facts.protocol == "openai";
        const std::vector<const char*> names =
            openai ? std::vector<const char*>{"OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_API_KEY",
                                              "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"}
                   : std::vector<const char*>{"ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY",
                                              "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS"};
        for (const char* name : names) facts.variables.push_back({name, !settings.value(name).empty()});
        facts.variables.push_back({"KERNELWRIGHT_MODEL", !settings.value("KERNELWRIGHT_MODEL").empty()});
        facts.model = settings.model();
        // Facts about the endpoint do not depend on a model being named.
        AuthorConfig with_model = config;
        if (facts.model.empty()) with_model.model = "any";
        auto endpoint = make_endpoint(facts.protocol, with_model);
        if (!endpoint) {
            facts.problem = endpoint.error().error.str();
        } else {
            facts.base_url = endpoint->protocol->base_url();
            facts.usable = !facts.model.empty();
            if (!facts.usable) facts.problem = no_model().error.str();
            const bool open_wire = facts.base_url.starts_with("http://") && !is_loopback(facts.base_url);
            const bool has_key = !settings
                                      .first({openai ? "OPENAI_API_KEY" : "ANTHROPIC_API_KEY",
                                              openai ? "" : "ANTHROPIC_AUTH_TOKEN"})
                                      .empty();
            if (facts.usable && open_wire && has_key) {
                facts.problem = "the key is sent to " + host_of(facts.base_url) + " without encryption";
            }
            if (probe) facts.probe = probe_endpoint(*endpoint->protocol, endpoint->secrets);
        }
        all.push_back(std::move(facts));
    }
    return all;
}

}  // namespace kernelwright
