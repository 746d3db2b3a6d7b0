#include "harness/core/yaml_parentheses.h"

#include <algorithm>

namespace kernelwright {
namespace {

constexpr char hidden_comma = '\x01';
constexpr char hidden_colon = '\x02';
constexpr char hidden_question = '\x03';

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_flow_indicator(char c) { return c == '[' || c == ']' || c == '{' || c == '}' || c == ','; }

// Follows just enough of YAML's lexical structure to know where a plain scalar of a flow collection begins.
class ParenthesisPass {
  public:
    explicit ParenthesisPass(std::string text) : text_(std::move(text)) {}

    std::string run() {
        while (pos_ < text_.size()) step();
        return std::move(text_);
    }

  private:
    char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\n'; }

    void step() {
        const char c = text_[pos_];
        if (c == '\n') {
            ++pos_;
            if (flow_ == 0) begin_line();
        } else if (is_blank(c)) {
            ++pos_;
        } else if (c == '#' && (pos_ == 0 || is_blank(at(pos_ - 1)))) {
            pos_ = std::min(text_.find('\n', pos_), text_.size());
        } else if (c == '"' || c == '\'') {
            skip_quoted(c);
        } else if (c == '[' || c == '{') {
            ++flow_;
            ++pos_;
        } else if (flow_ > 0 && is_flow_indicator(c)) {
            if (c != ',') --flow_;
            ++pos_;
        } else if ((c == '-' || c == '?' || c == ':') && is_blank(at(pos_ + 1)) && flow_ == 0) {
            if (c == '-') indent_ = pos_ - line_start_ + 1;
            ++pos_;
        } else if (c == ':' && flow_ > 0) {
            ++pos_;
        } else if ((c == '|' || c == '>') && flow_ == 0) {
            skip_block_scalar();
        } else if (flow_ == 0) {
            block_plain();
        } else {
            flow_plain();
        }
    }

    void begin_line() {
        line_start_ = pos_;
        indent_ = 0;
        while (at(pos_ + indent_) == ' ') ++indent_;
    }

    void skip_quoted(char quote) {
        for (++pos_; pos_ < text_.size(); ++pos_) {
            if (quote == '"' && text_[pos_] == '\\') {
                ++pos_;
            } else if (text_[pos_] == quote) {
                if (quote == '\'' && at(pos_ + 1) == '\'') {
                    ++pos_;
                    continue;
                }
                ++pos_;
                return;
            }
        }
    }

    // Lines that are indented deeper than the one which opened the scalar, and blank ones.
    void skip_block_scalar() {
        pos_ = std::min(text_.find('\n', pos_), text_.size());
        while (pos_ < text_.size()) {
            std::size_t i = pos_ + 1, indent = 0;
            while (at(i) == ' ' && i < text_.size()) ++i, ++indent;
            const bool empty = i < text_.size() && (text_[i] == '\n' || text_[i] == '\r');
            if (!empty && indent <= indent_) return;
            pos_ = std::min(text_.find('\n', i), text_.size());
        }
    }

    void block_plain() {
        while (pos_ < text_.size() && text_[pos_] != '\n') {
            if (text_[pos_] == ':' && is_blank(at(pos_ + 1))) {
                ++pos_;
                return;
            }
            if (text_[pos_] == '#' && is_blank(at(pos_ - 1))) return;
            ++pos_;
        }
    }

    void flow_plain() {
        while (pos_ < text_.size()) {
            const char c = text_[pos_];
            if (is_flow_indicator(c) || c == '\n') return;
            if (c == ':' && (is_blank(at(pos_ + 1)) || is_flow_indicator(at(pos_ + 1)))) {
                ++pos_;
                return;
            }
            if (c == '#' && is_blank(at(pos_ - 1))) return;
            if (c == '(' && pos_ >= unmatched_until_) {
                const std::size_t close = matching(pos_);
                if (close == std::string::npos) {
                    ++pos_;
                    continue;
                }
                for (; pos_ < close; ++pos_) {
                    if (text_[pos_] == ',') text_[pos_] = hidden_comma;
                    if (text_[pos_] == ':' && is_blank(at(pos_ + 1))) text_[pos_] = hidden_colon;
                    if (text_[pos_] == '?') text_[pos_] = hidden_question;
                }
            }
            ++pos_;
        }
    }

    // The `)` that closes the `(` at `open`; npos when brackets, quotes or a comment come first.
    std::size_t matching(std::size_t open) {
        int depth = 0;
        std::size_t i = open;
        for (; i < text_.size(); ++i) {
            const char c = text_[i];
            if (c == '(') ++depth;
            if (c == ')' && --depth == 0) return i;
            if (c != ',' && is_flow_indicator(c)) break;
            if (c == '"' || c == '\'' || (c == '#' && is_blank(at(i - 1)))) break;
        }
        unmatched_until_ = i;
        return std::string::npos;
    }

    std::string text_;
    std::size_t pos_ = 0, line_start_ = 0, indent_ = 0, unmatched_until_ = 0;
    int flow_ = 0;
};

}  // namespace

std::string hide_in_parentheses(std::string yaml) { return ParenthesisPass(std::move(yaml)).run(); }

std::string reveal_parentheses(std::string text) {
    for (char& c : text) {
        if (c == hidden_comma) c = ',';
        if (c == hidden_colon) c = ':';
        if (c == hidden_question) c = '?';
    }
    return text;
}

}  // namespace kernelwright
