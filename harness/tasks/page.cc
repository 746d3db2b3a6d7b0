#include "harness/tasks/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/text.h"

namespace kernelwright {
namespace {

struct Line {
    std::string_view text;  // without its line end
    std::size_t begin = 0, next = 0;
};

Line line_at(std::string_view text, std::size_t begin) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return {line, begin, std::min(end + 1, text.size())};
}

// A fence is three or more backticks or tildes after at most three blanks; its length, or 0.
std::size_t fence_length(std::string_view line, char& mark) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (indent > 3 || indent >= line.size() || (line[indent] != '`' && line[indent] != '~')) return 0;
    mark = line[indent];
    const std::size_t end = std::min(line.find_first_not_of(mark, indent), line.size());
    return end - indent >= 3 ? end - indent : 0;
}

}  // namespace

Result<PageParts> split_page(std::string_view text, const std::string& file) {
    PageParts parts;
    std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
    Line line = line_at(text, at);
    if (trim(line.text) != "---") {
        return Error{"the page has no front matter", file, 1, 0,
                     "begin it with a line `---`, then YAML, then another line `---`"};
    }
    at = line.next;
    const std::size_t front_begin = at;
    while (true) {
        if (at >= text.size()) {
            return Error{"the front matter is not closed", file, 1, 0, "end it with a line `---`"};
        }
        line = line_at(text, at);
        if (line.text.starts_with("---") && trim(line.text) == "---") break;
        at = line.next;
    }
    parts.front = text.substr(front_begin, at - front_begin);
    at = line.next;

    // The body: fences are followed so that a ``` inside another block does not open a reference.
    char fence_mark = 0;
    std::size_t fence = 0, reference_begin = 0;
    int fence_line = 0;
    bool in_reference = false;
    int number = line_of(text, at) - 1;
    while (at < text.size()) {
        line = line_at(text, at);
        char mark = 0;
        const std::size_t length = fence_length(line.text, mark);
        const std::string_view info = length > 0 ? trim(trim(line.text).substr(length)) : std::string_view{};
        ++number;
        if (fence > 0 && length >= fence && mark == fence_mark && info.empty()) {
            if (in_reference) {
                parts.reference = ReferenceCode{
                    std::string(text.substr(reference_begin, line.begin - reference_begin)), fence_line + 1};
            } else {
                parts.prose += std::string(line.text) + "\n";
            }
            in_reference = false;
            fence = 0;
        } else if (fence == 0 && length > 0) {
            fence = length;
            fence_mark = mark;
            fence_line = number;
            std::vector<std::string> words;
            for (const std::string& word : split(info, ' ')) {
                if (!word.empty()) words.push_back(word);
            }
            in_reference = words == std::vector<std::string>{"cuda", "reference"};
            if (words.size() == 2 && words[0] == "cuda" && !in_reference) {
                return Error{fmt::format("a fenced block `cuda {}`{}", words[1],
                                         did_you_mean(words[1], {"reference"})),
                             file, number, 0, "a page's own reference is a block ```cuda reference"};
            }
            if (in_reference && parts.reference) {
                return Error{fmt::format("a second reference block; the first begins on line {}",
                                         parts.reference->line - 1),
                             file, number};
            }
            if (in_reference) reference_begin = line.next;
            if (!in_reference) parts.prose += std::string(line.text) + "\n";
        } else if (!in_reference) {
            parts.prose += std::string(line.text) + "\n";
        }
        at = line.next;
    }
    if (fence > 0) {
        return Error{in_reference ? "the reference block is not closed" : "the fenced block is not closed",
                     file, fence_line, 0, "end it with a line ```"};
    }
    parts.prose = std::string(trim(parts.prose));
    return parts;
}

}  // namespace kernelwright
