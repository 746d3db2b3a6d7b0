// The OpenAI Chat Completions protocol, streaming, as OpenAI and the compatible servers (vLLM, llama.cpp,
// Ollama, and the hosted ones) speak it.
#pragma once

#include <optional>
#include <string>

#include "harness/authors/protocol.h"

namespace kernelwright {

struct OpenAiSettings {
    std::string base_url = "https://api.openai.com/v1";
    std::string key;  // empty: no Authorization header
    std::string organization, project;
    std::string model;
    std::string reasoning_effort;  // empty: not sent
    std::optional<double> temperature;
};

class OpenAiProtocol final : public Protocol {
  public:
    explicit OpenAiProtocol(OpenAiSettings settings);
    std::string name() const override { return "openai"; }
    std::string base_url() const override;
    std::string model() const override { return settings_.model; }
    std::string key_variable() const override { return "OPENAI_API_KEY"; }
    HttpRequest request(const Prompt& prompt, std::int64_t max_output_tokens) const override;
    HttpRequest probe() const override;
    std::unique_ptr<StreamReader> reader() const override;
    Outcome outcome_of_finish(const StreamState& state) const override;
    // Some servers know only `max_tokens`, some models only `max_completion_tokens`, and some servers do not
    // know `stream_options`: the error names the parameter.
    bool adapt(const ApiError& error) override;

  private:
    std::vector<std::pair<std::string, std::string>> headers() const;

    OpenAiSettings settings_;
    bool completion_cap_;  // the cap is sent as max_completion_tokens
    bool cap_swapped_ = false;
    bool stream_options_ = true;
};

}  // namespace kernelwright
