// Splits PTX text into tokens, on demand. A word keeps its sigils (%r1, $L__BB0_1, _), a dotted word its dot
// and inner "::" (.shared::cta). Comments and lines that start with # are skipped.
#pragma once

#include <cstdint>
#include <string_view>

namespace emulator::ptx {

struct Token {
    enum class Kind : std::uint8_t { end, word, dotted, number, string, punctuation, bad } kind = Kind::end;
    std::string_view text;  // punctuation: one or two characters; string: without the quotes
    int line = 1;
    bool is(char c) const { return kind == Kind::punctuation && text.size() == 1 && text[0] == c; }
    bool is(std::string_view s) const {
        return (kind == Kind::word || kind == Kind::dotted || kind == Kind::punctuation) && text == s;
    }
};

class Lexer {
  public:
    explicit Lexer(std::string_view text) : text_(text) { next_ = scan(); }
    const Token& peek() const { return next_; }
    Token take() {
        Token token = next_;
        next_ = scan();
        return token;
    }
    // The token after the next one.
    Token peek_second() const {
        Lexer copy = *this;
        copy.take();
        return copy.peek();
    }
    std::string_view text() const { return text_; }

  private:
    Token scan();
    void skip_blank();

    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
    Token next_;
};

}  // namespace emulator::ptx
