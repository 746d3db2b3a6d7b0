// The pre-pass that lets `[ceil_div(N, 256), 1, 1]` be two commas and three entries: inside the parentheses
// of flow entries it replaces `,`, `: ` and `?`, which YAML would read as its own, by control characters. It
// works byte for byte, so that no line or column moves.
#pragma once

#include <string>

namespace kernelwright {

std::string hide_in_parentheses(std::string yaml);
// Puts the characters back into a scalar's text.
std::string reveal_parentheses(std::string text);

}  // namespace kernelwright
