#include "emulator/src/ptx/lexer.h"

#include <algorithm>

namespace emulator::ptx {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$';
}

}  // namespace

void Lexer::skip_blank() {
    while (at_ < text_.size()) {
        const char c = text_[at_];
        if (c == '\n') {
            ++line_;
            ++at_;
            if (at_ < text_.size() && text_[at_] == '#') {
                at_ = std::min(text_.find('\n', at_), text_.size());
            }
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            ++at_;
        } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '/') {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '*') {
            const std::size_t close = std::min(text_.find("*/", at_ + 2), text_.size());
            line_ += static_cast<int>(std::count(text_.begin() + at_, text_.begin() + close, '\n'));
            at_ = std::min(close + 2, text_.size());
        } else {
            break;
        }
    }
}

Token Lexer::scan() {
    skip_blank();
    Token token;
    token.line = line_;
    if (at_ >= text_.size()) {
        token.text = text_.substr(text_.size());
        return token;
    }
    const std::size_t start = at_;
    const char c = text_[at_];
    const auto character = [&](std::size_t i) { return i < text_.size() ? text_[i] : '\0'; };
    const auto finish = [&](Token::Kind kind) {
        token.kind = kind;
        token.text = text_.substr(start, at_ - start);
        return token;
    };
    // A fraction may lack its digits before the point; directly after a word `.2d` is a modifier.
    const bool fraction =
        c == '.' && is_digit(character(at_ + 1)) && (start == 0 || !is_word(text_[start - 1]));
    if (is_digit(c) || fraction) {
        // Hexadecimal, 0f and 0d forms are words of digits; a decimal one may have a fraction and an
        // exponent.
        ++at_;
        while (is_word(character(at_))) {
            ++at_;
        }
        const std::string_view head = text_.substr(start, at_ - start);
        const bool prefixed = head.size() > 1 && head[0] == '0' && !is_digit(head[1]);
        if (!prefixed && !fraction && character(at_) == '.' &&
            (is_digit(character(at_ + 1)) || !is_word(character(at_ + 1)))) {
            ++at_;
            while (is_word(character(at_))) {
                ++at_;
            }
        }
        const char last = text_[at_ - 1];
        if (!prefixed && (last == 'e' || last == 'E') && (character(at_) == '-' || character(at_) == '+') &&
            is_digit(character(at_ + 1))) {
            ++at_;
            while (is_digit(character(at_))) {
                ++at_;
            }
        }
        return finish(Token::Kind::number);
    }
    if (is_word(c) || c == '%') {
        ++at_;
        while (is_word(character(at_))) {
            ++at_;
        }
        // A lone % is the remainder operator of a constant expression.
        return finish(c == '%' && at_ == start + 1 ? Token::Kind::punctuation : Token::Kind::word);
    }
    if (c == '.' && is_word(character(at_ + 1))) {
        ++at_;
        while (is_word(character(at_)) ||
               (character(at_) == ':' && character(at_ + 1) == ':' && is_word(character(at_ + 2)))) {
            at_ += character(at_) == ':' ? 2 : 1;
        }
        return finish(Token::Kind::dotted);
    }
    if (c == '"') {
        ++at_;
        while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
            at_ += text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n' ? 2 : 1;
        }
        if (character(at_) != '"') {
            return finish(Token::Kind::bad);
        }
        token.kind = Token::Kind::string;
        token.text = text_.substr(start + 1, at_ - start - 1);
        ++at_;
        return token;
    }
    static constexpr std::string_view single = "{}[]()<>,;:@!+-*/&|^~=?";
    if (single.find(c) == std::string_view::npos) {
        ++at_;
        return finish(Token::Kind::bad);
    }
    static constexpr std::string_view twice[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    for (const std::string_view operation : twice) {
        if (text_.substr(at_, 2) == operation) {
            at_ += 2;
            return finish(Token::Kind::punctuation);
        }
    }
    ++at_;
    return finish(Token::Kind::punctuation);
}

}  // namespace emulator::ptx
