#include "harness/candidate/comments.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "harness/core/text.h"

namespace kernelwright {
namespace {

constexpr std::string_view word = "kernelwright";

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Just enough of C++'s lexical grammar to tell comments from what only looks like one.
class Scanner {
  public:
    Scanner(std::string_view source, std::size_t limit) : s_(source), limit_(limit) {}

    // After run(): the source without what was skipped.
    std::string code() const {
        std::string out(s_);
        for (const auto& [begin, end] : skipped_) {
            for (std::size_t i = begin; i < end && i < out.size(); ++i) {
                if (out[i] != '\n') out[i] = ' ';
            }
        }
        return out;
    }

    std::vector<PlanComment> run() {
        while (pos_ < s_.size() && out_.size() < limit_) {
            const std::size_t begin = pos_;
            if (starts("//")) {
                skip_line_comment();
                skipped_.emplace_back(begin, pos_);
            } else if (starts("/*")) {
                block_comment();
                skipped_.emplace_back(begin, pos_);
            } else if (s_[pos_] == '"') {
                if (is_raw_prefix()) {
                    skip_raw_string();
                } else {
                    skip_literal('"');
                }
                skipped_.emplace_back(begin + 1, pos_ - 1);
            } else if (s_[pos_] == '\'' && !is_digit_separator()) {
                skip_literal('\'');
                skipped_.emplace_back(begin + 1, pos_ - 1);
            } else {
                ++pos_;
            }
        }
        return std::move(out_);
    }

  private:
    bool starts(std::string_view token) const { return s_.substr(pos_).starts_with(token); }

    // A line that ends in a backslash continues on the next.
    void skip_line_comment() {
        while (pos_ < s_.size()) {
            if (s_[pos_] == '\n') {
                std::size_t before = pos_;
                if (before > 0 && s_[before - 1] == '\r') --before;
                if (before == 0 || s_[before - 1] != '\\') return;
            }
            ++pos_;
        }
    }

    void skip_literal(char quote) {
        for (++pos_; pos_ < s_.size(); ++pos_) {
            if (s_[pos_] == '\\') {
                ++pos_;
            } else if (s_[pos_] == quote || s_[pos_] == '\n') {  // an open literal ends with its line
                ++pos_;
                return;
            }
        }
    }

    std::string_view word_before() const {
        std::size_t begin = pos_;
        while (begin > 0 && in_word(s_[begin - 1]) && pos_ - begin < 4) --begin;
        return s_.substr(begin, pos_ - begin);
    }
    bool is_raw_prefix() const {
        const std::string_view prefix = word_before();
        return prefix == "R" || prefix == "LR" || prefix == "uR" || prefix == "UR" || prefix == "u8R";
    }
    // 1'000'000: inside a token that begins with a digit. No number is longer than the bound.
    bool is_digit_separator() const {
        std::size_t begin = pos_;
        while (begin > 0 && pos_ - begin < 100 &&
               (in_word(s_[begin - 1]) || (s_[begin - 1] == '\'' && begin > 1 && in_word(s_[begin - 2])))) {
            --begin;
        }
        return begin < pos_ && std::isdigit(static_cast<unsigned char>(s_[begin])) != 0;
    }

    void skip_raw_string() {
        std::size_t open = s_.substr(pos_, 18).find('(');  // a delimiter has at most 16 characters
        if (open == std::string_view::npos) {
            ++pos_;
            return;
        }
        open += pos_;
        const std::string close = ")" + std::string(s_.substr(pos_ + 1, open - pos_ - 1)) + "\"";
        const std::size_t end = s_.find(close, open);
        pos_ = end == std::string_view::npos ? s_.size() : end + close.size();
    }

    void block_comment() {
        const std::size_t begin = pos_;
        const std::size_t close = s_.find("*/", begin + 2);
        const std::size_t end = close == std::string_view::npos ? s_.size() : close;
        pos_ = close == std::string_view::npos ? s_.size() : close + 2;
        std::size_t at = begin + 2;
        while (at < end &&
               (std::isspace(static_cast<unsigned char>(s_[at])) != 0 || s_[at] == '*' || s_[at] == '!')) {
            ++at;
        }
        if (!s_.substr(at, end - at).starts_with(word)) return;
        at += word.size();
        if (at < end && s_[at] == ':') ++at;
        if (at < end && std::isspace(static_cast<unsigned char>(s_[at])) == 0) return;
        PlanComment comment;
        comment.line = line_of(s_, at);
        comment.closed = close != std::string_view::npos;
        const std::size_t line_begin = s_.rfind('\n', at == 0 ? 0 : at - 1);
        const std::size_t column = at - (line_begin == std::string_view::npos ? 0 : line_begin + 1);
        const std::string_view body = s_.substr(at, end - at);
        const std::size_t first_end = std::min(body.find('\n'), body.size());
        // What stands on the word's own line is read only if there is something; blanks there would be an
        // indentation.
        const bool one_liner = !trim(body.substr(0, first_end)).empty();
        comment.yaml =
            one_liner ? std::string(column, ' ') + std::string(body) : std::string(body.substr(first_end));
        blank_leading_stars(comment.yaml);
        // `*/` may stand behind blanks on a line of its own.
        while (!comment.yaml.empty() && (comment.yaml.back() == ' ' || comment.yaml.back() == '\t'))
            comment.yaml.pop_back();
        out_.push_back(std::move(comment));
    }

    // The ` * ` that editors put before each line of a comment, when every line has it.
    static void blank_leading_stars(std::string& yaml) {
        std::vector<std::size_t> stars;
        std::size_t line = yaml.find('\n');
        while (line != std::string::npos) {
            const std::size_t next = std::min(yaml.find('\n', line + 1), yaml.size());
            const std::size_t first = yaml.find_first_not_of(" \t\r", line + 1);
            if (first != std::string::npos && first < next) {
                if (yaml[first] != '*') return;
                stars.push_back(first);
            }
            line = next < yaml.size() ? next : std::string::npos;
        }
        for (const std::size_t star : stars) yaml[star] = ' ';
    }

    std::string_view s_;
    std::size_t limit_;
    std::size_t pos_ = 0;
    std::vector<PlanComment> out_;
    std::vector<std::pair<std::size_t, std::size_t>> skipped_;  // [begin, end) of comments and literals
};

// Runs of blanks and line ends as one blank.
std::string one_spaced(std::string_view text) {
    std::string out;
    for (const char c : trim(text)) {
        const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
        if (!blank || out.back() != ' ') out += blank ? ' ' : c;
    }
    return out;
}

// The entries between the parenthesis at `open` and its partner; nullopt: it has none.
std::optional<std::vector<std::string>> entries_from(std::string_view code, std::size_t open) {
    std::vector<std::string> out;
    int depth = 0;
    std::size_t begin = open + 1;
    for (std::size_t i = open; i < code.size(); ++i) {
        const char c = code[i];
        if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
        if (c == ')' || c == ']' || c == '}' || c == '>') --depth;
        if ((c == ',' && depth == 1) || depth == 0) {
            std::string entry = one_spaced(code.substr(begin, i - begin));
            if (!entry.empty()) out.push_back(std::move(entry));
            begin = i + 1;
        }
        if (depth == 0) return out;
    }
    return std::nullopt;
}

}  // namespace

std::vector<PlanComment> find_plan_comments(std::string_view source, std::size_t limit) {
    return Scanner(source, limit).run();
}

std::string code_only(std::string_view source) {
    Scanner scanner(source, source.size() + 1);
    (void)scanner.run();
    return scanner.code();
}

std::vector<std::string> kernel_parameters(std::string_view code, const std::string& name) {
    // scale<4> and ns::scale are declared as scale.
    std::string word = name.substr(0, name.find('<'));
    if (const std::size_t colons = word.rfind("::"); colons != std::string::npos)
        word = word.substr(colons + 2);
    word = trim(word);
    if (word.empty()) return {};
    for (std::size_t at = code.find(word); at != std::string_view::npos; at = code.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at > 0 && in_word(code[at - 1])) || (end < code.size() && in_word(code[end]))) continue;
        const std::size_t open = code.find_first_not_of(" \t\r\n", end);
        if (open == std::string_view::npos || code[open] != '(') continue;
        // The declaration begins behind the one before it.
        const std::size_t before = code.find_last_of(";{}", at);
        const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
        if (code.substr(begin, at - begin).find("__global__") == std::string_view::npos) continue;
        if (auto entries = entries_from(code, open)) return std::move(*entries);
    }
    return {};
}

}  // namespace kernelwright
