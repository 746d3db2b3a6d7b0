#include "harness/candidate/comments.h"

#include <algorithm>
#include <cctype>

#include "harness/core/text.h"

namespace kernelwright {
namespace {

constexpr std::string_view word = "kernelwright";

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Just enough of C++'s lexical grammar to tell comments from what only looks like one.
class Scanner {
  public:
    Scanner(std::string_view source, std::size_t limit) : s_(source), limit_(limit) {}

    std::vector<PlanComment> run() {
        while (pos_ < s_.size() && out_.size() < limit_) {
            if (starts("//")) {
                skip_line_comment();
            } else if (starts("/*")) {
                block_comment();
            } else if (s_[pos_] == '"') {
                if (is_raw_prefix()) {
                    skip_raw_string();
                } else {
                    skip_literal('"');
                }
            } else if (s_[pos_] == '\'' && !is_digit_separator()) {
                skip_literal('\'');
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
};

}  // namespace

std::vector<PlanComment> find_plan_comments(std::string_view source, std::size_t limit) {
    return Scanner(source, limit).run();
}

}  // namespace kernelwright
