// Small text helpers shared by the parsers and the messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelwright {

std::string_view trim(std::string_view text);
std::vector<std::string> split(std::string_view text, char separator);
// The entry of `known` nearest to `name` by edit distance, or "" when none is near enough to be a typo.
std::string nearest(std::string_view name, const std::vector<std::string>& known);
// "; did you mean `axis`?" or "".
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);
// 1-based line of byte `offset`.
int line_of(std::string_view text, std::size_t offset);
// Bytes of the well-formed UTF-8 sequence at `at`; 0 when there is none (RFC 3629, table of section 4).
std::size_t utf8_length(std::string_view text, std::size_t at);
// One line that cannot steer a terminal, whoever wrote it: control characters become blanks, what is no UTF-8
// or changes the direction of writing becomes `?`.
std::string printable(std::string_view text);

}  // namespace kernelwright
