#include "harness/core/text.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace kernelwright {

std::string_view trim(std::string_view text) {
    static constexpr std::string_view blanks = " \t\r\n\f\v";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> out;
    std::size_t start = 0;
    while (true) {
        const std::size_t end = text.find(separator, start);
        out.emplace_back(text.substr(start, end == std::string_view::npos ? end : end - start));
        if (end == std::string_view::npos) return out;
        start = end + 1;
    }
}

std::string nearest(std::string_view name, const std::vector<std::string>& known) {
    const auto lower = [](std::string_view text) {
        std::string out(text);
        for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        return out;
    };
    std::string best;
    // A name of which every letter would have to change is no typo.
    std::size_t best_distance =
        std::min(std::max<std::size_t>(2, name.size() / 3) + 1, std::max<std::size_t>(name.size(), 1));
    for (const std::string& candidate : known) {
        if (lower(candidate) == lower(name)) return candidate;
        std::vector<std::size_t> row(candidate.size() + 1);
        std::iota(row.begin(), row.end(), std::size_t{0});
        for (std::size_t i = 0; i < name.size(); ++i) {
            std::size_t diagonal = row[0];
            row[0] = i + 1;
            for (std::size_t j = 0; j < candidate.size(); ++j) {
                const std::size_t substitute = diagonal + (name[i] == candidate[j] ? 0 : 1);
                diagonal = row[j + 1];
                row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, substitute});
            }
        }
        if (row.back() < best_distance) {
            best_distance = row.back();
            best = candidate;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
    const std::string best = nearest(name, known);
    return best.empty() ? "" : "; did you mean `" + best + "`?";
}

int line_of(std::string_view text, std::size_t offset) {
    return 1 + static_cast<int>(std::count(
                   text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size())),
                   '\n'));
}

std::size_t utf8_length(std::string_view s, std::size_t i) {
    const auto byte = [&](std::size_t k) { return k < s.size() ? static_cast<unsigned char>(s[k]) : 0U; };
    const unsigned first = byte(i);
    const auto tail = [&](std::size_t k, unsigned low = 0x80, unsigned high = 0xbf) {
        return byte(k) >= low && byte(k) <= high;
    };
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return tail(i + 1) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {
        const unsigned low = first == 0xe0 ? 0xa0 : 0x80, high = first == 0xed ? 0x9f : 0xbf;
        return tail(i + 1, low, high) && tail(i + 2) ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        const unsigned low = first == 0xf0 ? 0x90 : 0x80, high = first == 0xf4 ? 0x8f : 0xbf;
        return tail(i + 1, low, high) && tail(i + 2) && tail(i + 3) ? 4 : 0;
    }
    return 0;
}

std::string printable(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = utf8_length(text, i);
        const std::string_view character = text.substr(i, length);
        const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(character[k]); };
        if (length == 1) {
            out += byte(0) < 0x20 || byte(0) == 0x7f ? ' ' : character[0];
        } else if (length == 0 || (byte(0) == 0xc2 && byte(1) < 0xa0) ||  // U+0080 .. U+009F
                   (length == 3 && byte(0) == 0xe2 &&
                    ((byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae) ||    // U+2028 .. U+202E
                     (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9)))) {  // U+2066 .. U+2069
            out += '?';
        } else {
            out += character;
        }
        i += std::max<std::size_t>(length, 1);
    }
    return out;
}

}  // namespace kernelwright
