// How many tokens a text will be, before any endpoint has counted it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness/authors/author.h"

namespace kernelwright {

// One token for 3.5 bytes, rounded up: between prose (about 4) and CUDA code (about 3).
std::int64_t estimate_tokens(std::string_view text);
// The same for a prompt, with a few tokens of framing per message.
std::int64_t estimate_tokens(const Prompt& prompt);

// What a reply is to be charged: the endpoint's numbers, and where it gave none (or the stream broke before
// the last ones) at least the estimates of what was sent and received.
Usage charged_usage(const Reply& reply, std::int64_t prompt_estimate);

// A server with a small context may drop the beginning of a prompt without a word (Ollama does, and its
// context cannot be set over this protocol): seen by a token count far below the estimate.
std::optional<std::string> lost_prompt_warning(const Usage& usage, std::int64_t prompt_estimate);

}  // namespace kernelwright
