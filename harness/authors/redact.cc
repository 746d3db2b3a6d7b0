#include "harness/authors/redact.h"

#include <algorithm>

#include "harness/core/text.h"

namespace kernelwright {
namespace {

constexpr std::size_t shortest_secret = 4;
constexpr std::size_t shortest_in_prose = 16;

void replace_all(std::string& text, const std::string& what) {
    static constexpr std::string_view mark = "[redacted]";
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + mark.size())) {
        text.replace(at, what.size(), mark);
    }
}

}  // namespace

void Secrets::add(std::string_view value) {
    if (value.size() < shortest_secret) return;
    values_.emplace_back(value);
    std::stable_sort(values_.begin(), values_.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

std::string Secrets::redact(std::string text) const {
    for (const auto& value : values_) replace_all(text, value);
    return text;
}

std::string Secrets::redact_prose(std::string text) const {
    for (const auto& value : values_) {
        if (value.size() >= shortest_in_prose) replace_all(text, value);
    }
    return text;
}

std::string one_line(std::string_view text, std::size_t limit) {
    std::string line;
    for (const char c : trim(text)) {
        const auto byte = static_cast<unsigned char>(c);
        const bool blank = byte <= 0x20 || byte == 0x7f;
        if (blank && !line.empty() && line.back() == ' ') continue;
        line += blank ? ' ' : c;
    }
    if (line.size() <= limit) return line;
    std::size_t end = limit;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
    return line.substr(0, end) + "...";
}

std::string url_without_credentials(std::string_view url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string_view::npos) return std::string(url);
    const std::size_t start = scheme + 3;
    const std::size_t end = std::min(url.find_first_of("/?#", start), url.size());
    const std::size_t at = url.substr(start, end - start).rfind('@');
    if (at == std::string_view::npos) return std::string(url);
    return std::string(url.substr(0, start)) + std::string(url.substr(start + at + 1));
}

}  // namespace kernelwright
