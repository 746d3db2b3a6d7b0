// Constant expressions (PTX ISA, "Constants"): 64-bit integers, signed unless a U suffix or a cast says
// otherwise, and floating literals. Read by precedence climbing.
#include <bit>
#include <charconv>
#include <cstdlib>
#include <string>

#include "emulator/src/ptx/parser.h"

namespace emulator::ptx {

namespace {

constexpr int max_depth = 48;

int precedence(std::string_view operation) {
    if (operation == "*" || operation == "/" || operation == "%") return 10;
    if (operation == "+" || operation == "-") return 9;
    if (operation == "<<" || operation == ">>") return 8;
    if (operation == "<" || operation == ">" || operation == "<=" || operation == ">=") return 7;
    if (operation == "==" || operation == "!=") return 6;
    if (operation == "&") return 5;
    if (operation == "^") return 4;
    if (operation == "|") return 3;
    if (operation == "&&") return 2;
    if (operation == "||") return 1;
    return -1;
}

Constant from_real(double value) {
    Constant result;
    result.is_float = result.is_double = true;
    result.bits = std::bit_cast<std::uint64_t>(value);
    return result;
}

// Null when the operation is undefined for these operands.
std::optional<Constant> apply(std::string_view operation, const Constant& a, const Constant& b) {
    if (a.is_float || b.is_float) {
        const double x = a.real(), y = b.real();
        if (operation == "+") return from_real(x + y);
        if (operation == "-") return from_real(x - y);
        if (operation == "*") return from_real(x * y);
        if (operation == "/" && y != 0) return from_real(x / y);
        return std::nullopt;
    }
    Constant result;
    result.is_unsigned = a.is_unsigned || b.is_unsigned;
    const std::uint64_t x = a.bits, y = b.bits;
    const auto sx = static_cast<std::int64_t>(x), sy = static_cast<std::int64_t>(y);
    const bool u = result.is_unsigned;
    const auto truth = [&](bool value) {
        result.bits = value;
        result.is_unsigned = false;
        return result;
    };
    if (operation == "+") {
        result.bits = x + y;
    } else if (operation == "-") {
        result.bits = x - y;
    } else if (operation == "*") {
        result.bits = x * y;
    } else if (operation == "/" || operation == "%") {
        if (y == 0) return std::nullopt;
        const bool divide = operation == "/";
        if (u) {
            result.bits = divide ? x / y : x % y;
        } else if (sy == -1) {  // the one signed quotient that overflows
            result.bits = divide ? 0 - x : 0;
        } else {
            result.bits = static_cast<std::uint64_t>(divide ? sx / sy : sx % sy);
        }
    } else if (operation == "<<") {
        result.bits = y < 64 ? x << y : 0;
    } else if (operation == ">>") {
        const int amount = y < 63 ? static_cast<int>(y) : 63;
        result.bits = u ? (y < 64 ? x >> y : 0) : static_cast<std::uint64_t>(sx >> amount);
    } else if (operation == "<") {
        return truth(u ? x < y : sx < sy);
    } else if (operation == ">") {
        return truth(u ? x > y : sx > sy);
    } else if (operation == "<=") {
        return truth(u ? x <= y : sx <= sy);
    } else if (operation == ">=") {
        return truth(u ? x >= y : sx >= sy);
    } else if (operation == "==") {
        return truth(x == y);
    } else if (operation == "!=") {
        return truth(x != y);
    } else if (operation == "&") {
        result.bits = x & y;
    } else if (operation == "^") {
        result.bits = x ^ y;
    } else if (operation == "|") {
        result.bits = x | y;
    } else if (operation == "&&") {
        return truth(x && y);
    } else {
        return truth(x || y);
    }
    return result;
}

}  // namespace

double Constant::real() const {
    if (is_float && is_double) return std::bit_cast<double>(bits);
    if (is_float) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    return is_unsigned ? static_cast<double>(bits) : static_cast<double>(static_cast<std::int64_t>(bits));
}

bool Parser::literal(const Token& token, Constant& out) {
    std::string_view text = token.text;
    out = {};
    const auto bad = [&] { return fail("`" + std::string(token.text) + "` is not a number", token.line); };
    const char second = text.size() > 1 && text[0] == '0' ? text[1] : '\0';
    const auto whole = [&](std::string_view digits, int base) {
        const auto [end, code] =
            std::from_chars(digits.data(), digits.data() + digits.size(), out.bits, base);
        return code == std::errc() && end == digits.data() + digits.size() && !digits.empty();
    };
    if (second == 'f' || second == 'F' || second == 'd' || second == 'D') {
        out.is_float = true;
        out.is_double = second == 'd' || second == 'D';
        return text.size() == (out.is_double ? 18u : 10u) && whole(text.substr(2), 16) ? true : bad();
    }
    if (second != 'x' && second != 'X' && text.find_first_of(".eE") != std::string_view::npos) {
        const std::string copy(text);
        char* end = nullptr;
        const double value = std::strtod(copy.c_str(), &end);
        if (end != copy.c_str() + copy.size()) return bad();
        out = from_real(value);
        return true;
    }
    if (text.ends_with('U') || text.ends_with('u')) {
        out.is_unsigned = true;
        text.remove_suffix(1);
    }
    bool good = false;
    if (second == 'x' || second == 'X') {
        good = whole(text.substr(2), 16);
    } else if (second == 'b' || second == 'B') {
        good = whole(text.substr(2), 2);
    } else if (text.size() > 1 && text[0] == '0') {
        good = whole(text.substr(1), 8);
    } else {
        good = whole(text, 10);
    }
    if (good && static_cast<std::int64_t>(out.bits) < 0) out.is_unsigned = true;
    return good ? true : bad();
}

// A literal, a parenthesis or a cast, with the signs before it.
bool Parser::constant_operand(Constant& out) {
    std::string signs;
    while (lexer_.peek().is('-') || lexer_.peek().is('+') || lexer_.peek().is('~') || lexer_.peek().is('!')) {
        signs.push_back(lexer_.take().text[0]);
    }
    int cast = 0;  // 1: .s64, 2: .u64
    for (;;) {
        if (!lexer_.peek().is('(')) break;
        const Token inner = lexer_.peek_second();
        if (inner.kind != Token::Kind::dotted) break;
        lexer_.take();
        lexer_.take();
        if (inner.text != ".s64" && inner.text != ".u64") {
            return fail("`" + std::string(inner.text) + "` is not a cast; .s64 and .u64 are", inner.line);
        }
        if (cast == 0) cast = inner.text == ".s64" ? 1 : 2;  // the outermost cast decides
        if (!expect(')', "a cast")) return false;
    }
    const Token token = lexer_.take();
    if (token.kind == Token::Kind::number) {
        if (!literal(token, out)) return false;
    } else if (token.is('(')) {
        if (!constant(out) || !expect(')', "a constant expression")) return false;
    } else if (token.is("WARP_SZ")) {
        out = {};
        out.bits = 32;
    } else {
        return fail("a constant is expected, not `" + std::string(token.text) + "`", token.line);
    }
    if (cast != 0 && !out.is_float) out.is_unsigned = cast == 2;
    for (auto sign = signs.rbegin(); sign != signs.rend(); ++sign) {
        if (*sign == '-' && out.is_float) {
            out.bits ^= out.is_double ? std::uint64_t{1} << 63 : std::uint64_t{1} << 31;
        } else if (*sign == '-') {
            out.bits = 0 - out.bits;
            out.is_unsigned = false;
        } else if (*sign == '~') {
            out.bits = ~out.bits;
        } else if (*sign == '!') {
            out.bits = out.is_float ? out.real() == 0 : out.bits == 0;
            out.is_float = out.is_double = out.is_unsigned = false;
        }
    }
    return true;
}

bool Parser::constant(Constant& out, int minimum) {
    if (++constant_depth_ > max_depth) return fail("the constant expression is nested too deeply");
    if (!constant_operand(out)) return false;
    for (;;) {
        const Token& next = lexer_.peek();
        const int rank = next.kind == Token::Kind::punctuation ? precedence(next.text) : -1;
        if (rank < 0 || rank < minimum) break;
        const Token operation = lexer_.take();
        Constant right;
        if (!constant(right, rank + 1)) return false;
        const auto result = apply(operation.text, out, right);
        if (!result) return fail("the constant expression cannot be computed", operation.line);
        out = *result;
    }
    if (minimum == 0 && lexer_.peek().is('?')) {
        lexer_.take();
        Constant yes, no;
        if (!constant(yes) || !expect(':', "the second part of ?:") || !constant(no)) return false;
        out = (out.is_float ? out.real() != 0 : out.bits != 0) ? yes : no;
    }
    --constant_depth_;
    return true;
}

}  // namespace emulator::ptx
