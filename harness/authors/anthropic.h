// The Anthropic Messages protocol, streaming.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/authors/protocol.h"

namespace kernelwright {

struct AnthropicSettings {
    std::string base_url = "https://api.anthropic.com";
    std::string key;         // sent as x-api-key
    std::string auth_token;  // sent as a bearer token, where there is no key
    std::vector<std::pair<std::string, std::string>> custom_headers;
    std::string model;
    std::int64_t thinking_tokens = 0;  // > 0: thinking with this budget
    std::string effort;                // empty: not sent; else adaptive thinking with this effort
    std::optional<double> temperature;
};

// "Name: value" lines, as ANTHROPIC_CUSTOM_HEADERS holds them.
Result<std::vector<std::pair<std::string, std::string>>> parse_custom_headers(const std::string& text);

class AnthropicProtocol final : public Protocol {
  public:
    explicit AnthropicProtocol(AnthropicSettings settings);
    std::string name() const override { return "anthropic"; }
    std::string base_url() const override;
    std::string model() const override { return settings_.model; }
    std::string key_variable() const override { return "ANTHROPIC_API_KEY"; }
    HttpRequest request(const Prompt& prompt, std::int64_t max_output_tokens) const override;
    HttpRequest probe() const override;
    std::unique_ptr<StreamReader> reader() const override;
    Outcome outcome_of_finish(const StreamState& state) const override;

  private:
    std::vector<std::pair<std::string, std::string>> headers() const;
    AnthropicSettings settings_;
};

}  // namespace kernelwright
