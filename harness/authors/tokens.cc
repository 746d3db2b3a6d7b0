#include "harness/authors/tokens.h"

#include <fmt/format.h>

#include <algorithm>

namespace kernelwright {
namespace {

constexpr std::int64_t framing_tokens = 4;  // role and separators of one message

}  // namespace

std::int64_t estimate_tokens(std::string_view text) {
    return (static_cast<std::int64_t>(text.size()) * 2 + 6) / 7;
}

std::int64_t estimate_tokens(const Prompt& prompt) {
    std::int64_t tokens = prompt.system.empty() ? 0 : estimate_tokens(prompt.system) + framing_tokens;
    for (const auto& message : prompt.messages) tokens += estimate_tokens(message.content) + framing_tokens;
    return tokens;
}

Usage charged_usage(const Reply& reply, std::int64_t prompt_estimate) {
    Usage usage = reply.usage;
    if (usage.reported || !is_answer(reply.outcome)) return usage;
    usage.input_tokens = std::max(usage.input_tokens, prompt_estimate);
    usage.output_tokens =
        std::max(usage.output_tokens, estimate_tokens(reply.text) + estimate_tokens(reply.reasoning));
    return usage;
}

std::optional<std::string> lost_prompt_warning(const Usage& usage, std::int64_t prompt_estimate) {
    static constexpr std::int64_t too_short_to_tell = 1000;
    if (!usage.reported || usage.input_tokens == 0 || prompt_estimate < too_short_to_tell)
        return std::nullopt;
    if (usage.input_tokens * 2 >= prompt_estimate) return std::nullopt;
    return fmt::format(
        "the endpoint counted {} prompt tokens where about {} were sent: it has probably cut the prompt to "
        "its "
        "context size (Ollama: set OLLAMA_CONTEXT_LENGTH, or num_ctx in a Modelfile)",
        usage.input_tokens, prompt_estimate);
}

}  // namespace kernelwright
