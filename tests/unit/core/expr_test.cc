#include "harness/core/expr.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace kernelwright {
namespace {

constexpr std::int64_t int_max = std::numeric_limits<std::int64_t>::max();

Environment sizes() {
    Environment environment;
    environment.integers = {{"M", 3}, {"N", 1000}, {"big", int_max}, {"sm_count", 108}};
    environment.reals = {{"alpha", 2.5}};
    environment.resident_blocks = {{"k", 4}, {"scale<4, float>", 2}};
    return environment;
}

// Value, or the error as "column: message".
std::string evaluated(const std::string& text) {
    const auto expression = Expression::parse(text);
    const auto shown = [](const Error& e) { return std::to_string(e.column) + ": " + e.message; };
    if (!expression) return shown(expression.error());
    const auto value = expression->evaluate(sizes());
    return value ? std::to_string(*value) : shown(value.error());
}

struct Case {
    const char* text;
    const char* result;
};

TEST(Expression, Values) {
    const Case cases[] = {
        {"7", "7"},
        {"  N ", "1000"},
        {"1 + 2 * 3", "7"},
        {"(1 + 2) * 3", "9"},
        {"10 - 3 - 2", "5"},
        {"7 / 2", "3"},
        {"-7 / 2", "-4"},
        {"7 / -2", "-4"},
        {"-7 / -2", "3"},
        {"-7 % 4", "1"},
        {"7 % -4", "-1"},
        {"-8 % 4", "0"},
        {"- -3", "3"},
        {"--3", "3"},
        {"+4", "4"},
        {"0x10", "16"},
        {"ceil_div(N, 256)", "4"},
        {"ceil_div(-7, 2)", "-3"},
        {"ceil_div(1024, 256)", "4"},
        {"next_pow2(N)", "1024"},
        {"next_pow2(1024)", "1024"},
        {"next_pow2(0)", "1"},
        {"min(3, N, 2)", "2"},
        {"max(3, N, 2)", "1000"},
        {"N % 4 == 0", "1"},
        {"N % 4 != 0", "0"},
        {"1 < 2 && 2 <= 2 && 3 > 2 && 2 >= 2", "1"},
        {"!N", "0"},
        {"!(N > 2000)", "1"},
        {"N > 500 ? 1 : 2", "1"},
        {"N > 5000 ? 1 : M > 2 ? 3 : 4", "3"},
        // lazily evaluated: the branch not taken may be undefined
        {"M == 3 ? 1 : 1 / 0", "1"},
        {"M == 3 || 1 / 0", "1"},
        {"M == 4 && 1 / 0", "0"},
        {"1 || 0 && 0", "1"},
        {"true", "1"},
        {"min(ceil_div(N, 64), sm_count * resident_blocks(k))", "16"},
        {"resident_blocks(scale<4, float>) + 1", "3"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"9223372036854775807", "9223372036854775807"},
        {"alpha > 2.0 ? 1 : 0", "1"},
    };
    for (const Case& c : cases) EXPECT_EQ(evaluated(c.text), c.result) << c.text;
}

TEST(Expression, ErrorsNameTheColumn) {
    const Case cases[] = {
        {"", "1: an expression is missing here"},
        {"   ", "1: an expression is missing here"},
        {"1 +", "4: the expression ends where a name, a number or `(` is expected"},
        {"(1 + 2", "7: the parenthesis opened at column 1 is not closed"},
        {"1 2", "3: `2` where an operator or the end of the expression is expected"},
        {"N ** 2", "3: `*` where an operator or the end of the expression is expected"},
        {"N // 4", "3: `//` is no operator here"},
        {"N and M", "3: `and` where an operator or the end of the expression is expected"},
        {"cdiv(N, 2)", "1: there is no function `cdiv`"},
        {"ceildiv(N, 2)", "1: there is no function `ceildiv`; did you mean `ceil_div`?"},
        {"ceil_div(N)", "1: ceil_div takes two arguments, not 1"},
        {"next_pow2(1, 2)", "1: next_pow2 takes one argument, not 2"},
        {"min", "1: `min` is a function: its arguments are missing"},
        {"min()", "5: `)` where a name, a number or `(` is expected"},
        {"12ab", "1: `12ab` is not a number"},
        {"9223372036854775808", "1: 9223372036854775808 does not fit 64 bits"},
        {"N ? 1", "6: the expression ends where the `:` of `?:` is expected"},
        {"M + other", "5: unknown name `other`"},
        {"bigg", "1: unknown name `bigg`; did you mean `big`?"},
        {"smem_optin", "1: the device fact `smem_optin` is not known here"},
        {"resident_blocks(q)", "1: resident_blocks(q) is not known here"},
        {"M / (N - 1000)", "3: division by zero"},
        {"M % 0", "3: division by zero"},
        {"ceil_div(M, 0)", "1: division by zero"},
        {"big + 1", "5: the result of `+` does not fit 64 bits"},
        {"0 - big - 2", "9: the result of `-` does not fit 64 bits"},
        {"big * 2", "5: the result of `*` does not fit 64 bits"},
        {"(0 - big - 1) / -1", "15: the result of `/` does not fit 64 bits"},
        {"-(0 - big - 1)", "1: the result of `-` does not fit 64 bits"},
        {"next_pow2(big)", "1: the result of `next_pow2` does not fit 64 bits"},
        {"alpha * 2", "7: `alpha * 2` is 5, an integer is needed"},
        {"1.5", "1: `1.5` is 1.5, an integer is needed"},
        {"\x01", "1: `\\x01` where a name, a number or `(` is expected"},
    };
    for (const Case& c : cases) EXPECT_EQ(evaluated(c.text), c.result) << c.text;
}

TEST(Expression, RealsOnlyWhereOneTakesPart) {
    const auto number = [](const char* text) { return *Expression::parse(text)->evaluate_number(sizes()); };
    EXPECT_EQ(number("alpha * 2"), (Number{true, 0, 5.0}));
    EXPECT_EQ(number("7 / 2"), (Number{false, 3, 0}));
    EXPECT_EQ(number("7 / 2.0"), (Number{true, 0, 3.5}));
    EXPECT_EQ(number("1.0f / 4"), (Number{true, 0, 0.25}));
    EXPECT_EQ(number("-1e-3"), (Number{true, 0, -1e-3}));
    EXPECT_EQ(number("max(alpha, 1)"), (Number{true, 0, 2.5}));
    EXPECT_EQ(number("big"), (Number{false, int_max, 0}));  // exact above 2^53
    EXPECT_DOUBLE_EQ(*Expression::parse("1.0 / N")->evaluate_real(sizes()), 1e-3);
    EXPECT_FALSE(Expression::parse("alpha % 2")->evaluate_real(sizes()).ok());
    EXPECT_FALSE(Expression::parse("1e999").ok());
}

TEST(Expression, NamesAndColumns) {
    const auto e = Expression::parse("min(M, N) + resident_blocks(k) * M");
    ASSERT_TRUE(e.ok());
    EXPECT_EQ(e->names(), (std::set<std::string>{"M", "N"}));
    EXPECT_EQ(e->kernels(), (std::set<std::string>{"k"}));
    EXPECT_EQ(e->column_of("N"), 8);
    EXPECT_EQ(e->column_of("M"), 5);
    EXPECT_EQ(e->column_of("Q"), 0);
    EXPECT_EQ(*Expression::constant(-5).evaluate({}), -5);
    EXPECT_FALSE(Expression().evaluate({}).ok());
}

TEST(Expression, HostileTextIsRefused) {
    EXPECT_FALSE(Expression::parse(std::string(100000, '(')).ok());
    EXPECT_FALSE(Expression::parse(std::string(4000, '(')).ok());
    EXPECT_FALSE(Expression::parse(std::string(4000, '-') + "1").ok());
    EXPECT_FALSE(Expression::parse(std::string(4000, '!') + "1").ok());
    std::string sum = "1", choice = "1";
    for (int i = 0; i < 1000; ++i) sum += "+1";
    for (int i = 0; i < 600; ++i) choice = "1?" + choice + ":0";
    EXPECT_FALSE(Expression::parse(sum).ok());
    EXPECT_FALSE(Expression::parse(choice).ok());
    EXPECT_FALSE(Expression::parse(std::string("1\0+1", 4)).ok());
}

// Random token soup never crashes, and whatever parses also evaluates or fails with a place.
TEST(Expression, TokenSoup) {
    const std::vector<std::string> tokens = {"1",
                                             "N",
                                             "M",
                                             "(",
                                             ")",
                                             "+",
                                             "-",
                                             "*",
                                             "/",
                                             "%",
                                             "?",
                                             ":",
                                             "&&",
                                             "||",
                                             "!",
                                             "==",
                                             "<",
                                             "min",
                                             ",",
                                             "max(",
                                             "0",
                                             "-1",
                                             " ",
                                             "2.5",
                                             ">=",
                                             "ceil_div(",
                                             "1e",
                                             "next_pow2(",
                                             "9223372036854775807",
                                             "^"};
    std::mt19937 random(7);
    int parsed = 0;
    for (int i = 0; i < 100000; ++i) {
        std::string text;
        for (std::size_t k = 1 + random() % 9; k > 0; --k) text += tokens[random() % tokens.size()];
        const auto expression = Expression::parse(text);
        if (!expression) {
            EXPECT_GE(expression.error().column, 1) << text;
            EXPECT_LE(expression.error().column, static_cast<int>(text.size()) + 1) << text;
            continue;
        }
        ++parsed;
        const auto value = expression->evaluate_number(sizes());
        EXPECT_TRUE(value.ok() || value.error().column >= 1) << text;
    }
    EXPECT_GT(parsed, 1000);
}

}  // namespace
}  // namespace kernelwright
