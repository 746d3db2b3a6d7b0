// What must never be seen outside a request's own headers: keys and the values of custom headers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelwright {

class Secrets {
  public:
    // Values shorter than four bytes are placeholders, not secrets, and are not kept.
    void add(std::string_view value);
    // `text` with every secret replaced: for messages, warnings and names.
    std::string redact(std::string text) const;
    // The same for a model's own words and for prompts, where only long secrets are replaced: local servers
    // are often given a word such as "ollama" for a key, which is no secret.
    std::string redact_prose(std::string text) const;

  private:
    std::vector<std::string> values_;  // longest first
};

// One printable line: control characters (also those that steer a terminal) become blanks, and what is longer
// than `limit` bytes is cut at a character's edge and marked so.
std::string one_line(std::string_view text, std::size_t limit = 400);
// The URL without user name and password.
std::string url_without_credentials(std::string_view url);

}  // namespace kernelwright
