// A recursive-descent parser into a tree of nodes, and a tree walk that evaluates it. Two rules keep hostile
// text harmless: the text's length is bounded before it is read, and the tree's depth while it is built, so
// that no later walk (evaluation, names, destruction) can run out of stack. Integers never become doubles on
// their way: a value is real only where a real literal or a real param took part.
#include "harness/core/expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "harness/core/text.h"

namespace kernelwright {

struct Expression::Node {
    enum class Kind { integer, real, name, unary, binary, conditional, call, resident_blocks } kind;
    std::string token;  // operator, function, name or kernel
    int column = 0;     // 1-based
    int depth = 1;
    std::int64_t integer = 0;
    double real = 0;
    std::vector<std::shared_ptr<const Node>> children;
};

namespace {

using Node = Expression::Node;
using NodePtr = std::shared_ptr<const Node>;

const std::vector<std::string>& function_names() {
    static const std::vector<std::string> names = {"min", "max", "ceil_div", "next_pow2", "resident_blocks"};
    return names;
}

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Operators by how tightly they bind, loosest first.
int precedence(std::string_view op) {
    if (op == "||") return 1;
    if (op == "&&") return 2;
    if (op == "==" || op == "!=") return 3;
    if (op == "<" || op == "<=" || op == ">" || op == ">=") return 4;
    if (op == "+" || op == "-") return 5;
    if (op == "*" || op == "/" || op == "%") return 6;
    return 0;
}

class Parser {
  public:
    explicit Parser(std::string_view text) : text_(text) {}

    Result<NodePtr> parse() {
        if (text_.size() > Expression::max_length) {
            return Error{fmt::format("the expression is {} characters long, more than the {} that are read",
                                     text_.size(), Expression::max_length)};
        }
        skip_blanks();
        if (at_end()) return fail(1, "an expression is missing here");
        NodePtr root = conditional(0);
        if (root && !at_end()) unexpected("an operator or the end of the expression");
        if (error_) return *error_;
        return root;
    }

  private:
    Error fail(int column, std::string message, std::string hint = {}) {
        if (!error_) error_ = Error{std::move(message), {}, 0, column, std::move(hint)};
        return *error_;
    }
    NodePtr refuse(int column, std::string message, std::string hint = {}) {
        fail(column, std::move(message), std::move(hint));
        return nullptr;
    }
    NodePtr unexpected(const std::string& wanted) {
        if (at_end()) return refuse(column(), "the expression ends where " + wanted + " is expected");
        std::string hint;
        if (starts_name(peek())) {
            const std::string word = peek_word();
            if (word == "and") hint = "write `&&`";
            if (word == "or") hint = "write `||`";
            if (word == "if" || word == "else") hint = "write `condition ? a : b`";
            if (word == "not") hint = "write `!`";
            return refuse(column(), fmt::format("`{}` where {} is expected", word, wanted), hint);
        }
        if (text_.substr(pos_).starts_with("**") || peek() == '^') hint = "there is no power operator";
        if (peek() == '&') hint = "write `&&`";
        if (peek() == '|') hint = "write `||`";
        if (peek() == '=') hint = "write `==`";
        if (peek() == '.') hint = "a real literal needs a digit before its point";
        if (text_.substr(pos_).starts_with("<<") || text_.substr(pos_).starts_with(">>")) {
            hint = "there are no shifts: multiply or divide";
        }
        return refuse(column(), fmt::format("`{}` where {} is expected", printable(peek()), wanted), hint);
    }
    static std::string printable(char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte >= 0x20 && byte < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
    }

    bool at_end() const { return pos_ >= text_.size(); }
    char peek() const { return pos_ < text_.size() ? text_[pos_] : '\0'; }
    int column() const { return static_cast<int>(pos_) + 1; }
    void skip_blanks() {
        while (!at_end() && std::isspace(static_cast<unsigned char>(text_[pos_])) != 0) ++pos_;
    }
    std::string peek_word() const {
        std::size_t end = pos_;
        while (end < text_.size() && in_name(text_[end])) ++end;
        return std::string(text_.substr(pos_, end - pos_));
    }
    bool accept(std::string_view token) {
        if (!text_.substr(pos_).starts_with(token)) return false;
        pos_ += token.size();
        skip_blanks();
        return true;
    }

    NodePtr make(Node::Kind kind, std::string token, int column, std::vector<NodePtr> children) {
        auto node = std::make_shared<Node>();
        node->kind = kind;
        node->token = std::move(token);
        node->column = column;
        for (const NodePtr& child : children) {
            if (!child) return nullptr;
            node->depth = std::max(node->depth, child->depth + 1);
        }
        if (node->depth > Expression::max_depth) {
            return refuse(column,
                          fmt::format("more than {} operators are nested here", Expression::max_depth));
        }
        node->children = std::move(children);
        return node;
    }

    NodePtr conditional(int depth) {
        if (depth > Expression::max_depth) {
            return refuse(column(),
                          fmt::format("more than {} parentheses are nested here", Expression::max_depth));
        }
        NodePtr condition = binary(1, depth);
        if (!condition || peek() != '?') return condition;
        const int at = column();
        accept("?");
        NodePtr yes = conditional(depth + 1);
        if (!yes) return nullptr;
        if (!accept(":")) return unexpected("the `:` of `?:`");
        NodePtr no = conditional(depth + 1);
        return make(Node::Kind::conditional, "?:", at, {condition, yes, no});
    }

    std::string_view peek_operator() const {
        static constexpr std::string_view operators[] = {"||", "&&", "==", "!=", "<=", ">=", "<",
                                                         ">",  "+",  "-",  "*",  "/",  "%"};
        const std::string_view rest = text_.substr(std::min(pos_, text_.size()));
        if (rest.starts_with("**") || rest.starts_with("<<") || rest.starts_with(">>")) return {};
        for (const std::string_view op : operators) {
            if (rest.starts_with(op)) return op;
        }
        return {};
    }

    NodePtr binary(int lowest, int depth) {
        NodePtr left = unary(depth);
        while (left) {
            const std::string_view op = peek_operator();
            const int level = precedence(op);
            if (level < lowest || level == 0) break;
            const int at = column();
            accept(op);
            if (op == "/" && peek() == '/') {
                return refuse(at, "`//` is no operator here", "`/` already rounds down");
            }
            NodePtr right = binary(level + 1, depth);
            left = make(Node::Kind::binary, std::string(op), at, {left, right});
        }
        return left;
    }

    NodePtr unary(int depth) {
        if (depth > Expression::max_depth) {
            return refuse(column(),
                          fmt::format("more than {} operators are nested here", Expression::max_depth));
        }
        const char c = peek();
        if (c == '-' || c == '+' || (c == '!' && !text_.substr(pos_).starts_with("!="))) {
            const int at = column();
            accept(std::string_view(&c, 1));
            // The most negative integer has no positive counterpart: read the sign with the digits.
            if (c == '-' && std::isdigit(static_cast<unsigned char>(peek())) != 0) return number(at, true);
            return make(Node::Kind::unary, std::string(1, c), at, {unary(depth + 1)});
        }
        return primary(depth);
    }

    NodePtr primary(int depth) {
        const int at = column();
        if (accept("(")) {
            NodePtr inner = conditional(depth + 1);
            if (!inner) return nullptr;
            if (!accept(")")) {
                if (at_end()) {
                    return refuse(column(),
                                  fmt::format("the parenthesis opened at column {} is not closed", at));
                }
                return unexpected("`)`");
            }
            return inner;
        }
        if (std::isdigit(static_cast<unsigned char>(peek())) != 0) return number(at, false);
        if (!starts_name(peek())) return unexpected("a name, a number or `(`");
        const std::string word = peek_word();
        pos_ += word.size();
        skip_blanks();
        if (peek() == '(') return call(word, at, depth);
        if (word == "true" || word == "false") {
            auto node = std::make_shared<Node>();
            node->kind = Node::Kind::integer;
            node->integer = word == "true" ? 1 : 0;
            node->column = at;
            return node;
        }
        const auto& functions = function_names();
        if (std::find(functions.begin(), functions.end(), word) != functions.end()) {
            return refuse(at, fmt::format("`{}` is a function: its arguments are missing", word));
        }
        return make(Node::Kind::name, word, at, {});
    }

    NodePtr call(const std::string& function, int at, int depth) {
        const auto& known = function_names();
        if (std::find(known.begin(), known.end(), function) == known.end()) {
            std::string hint = "known functions: min max ceil_div next_pow2 resident_blocks";
            if (function == "cdiv" || function == "div_up" || function == "ceildiv")
                hint = "write ceil_div(a, b)";
            return refuse(at,
                          fmt::format("there is no function `{}`{}", function, did_you_mean(function, known)),
                          hint);
        }
        accept("(");
        if (function == "resident_blocks") return resident_blocks(at);
        std::vector<NodePtr> arguments;
        while (true) {
            arguments.push_back(conditional(depth + 1));
            if (!arguments.back()) return nullptr;
            if (accept(",")) continue;
            if (accept(")")) break;
            if (at_end())
                return refuse(column(), fmt::format("the parenthesis of `{}` is not closed", function));
            return unexpected("`,` or `)`");
        }
        const std::size_t count = arguments.size();
        if (function == "ceil_div" && count != 2) {
            return refuse(at, fmt::format("ceil_div takes two arguments, not {}", count));
        }
        if (function == "next_pow2" && count != 1) {
            return refuse(at, fmt::format("next_pow2 takes one argument, not {}", count));
        }
        return make(Node::Kind::call, function, at, std::move(arguments));
    }

    // The kernel may be a C++ name expression: everything up to the matching parenthesis.
    NodePtr resident_blocks(int at) {
        const std::size_t start = pos_;
        int open = 1;
        while (!at_end()) {
            if (peek() == '(') ++open;
            if (peek() == ')' && --open == 0) break;
            ++pos_;
        }
        if (at_end()) return refuse(column(), "the parenthesis of `resident_blocks` is not closed");
        const std::string kernel(trim(text_.substr(start, pos_ - start)));
        accept(")");
        if (kernel.empty()) return refuse(at, "resident_blocks takes a kernel's name");
        return make(Node::Kind::resident_blocks, kernel, at, {});
    }

    NodePtr number(int at, bool negative) {
        const std::size_t start = pos_;
        std::size_t end = start;
        const std::string_view rest = text_.substr(start);
        const bool hex = rest.starts_with("0x") || rest.starts_with("0X");
        bool real = false;
        if (hex) {
            end += 2;
            while (end < text_.size() && std::isxdigit(static_cast<unsigned char>(text_[end])) != 0) ++end;
        } else {
            const auto digits = [&] {
                while (end < text_.size() && std::isdigit(static_cast<unsigned char>(text_[end])) != 0) ++end;
            };
            digits();
            if (end < text_.size() && text_[end] == '.') {
                real = true;
                ++end;
                digits();
            }
            if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
                std::size_t exponent = end + 1;
                if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
                if (exponent < text_.size() &&
                    std::isdigit(static_cast<unsigned char>(text_[exponent])) != 0) {
                    real = true;
                    end = exponent;
                    digits();
                }
            }
        }
        auto node = std::make_shared<Node>();
        node->column = at;
        const std::string literal = (negative ? "-" : "") + std::string(text_.substr(start, end - start));
        pos_ = end;
        // A C++ float literal: `1.0f`.
        if (real && (peek() == 'f' || peek() == 'F')) ++pos_;
        if (!at_end() && in_name(peek())) {
            return refuse(at, fmt::format("`{}{}` is not a number", literal, peek_word()));
        }
        skip_blanks();
        if (real) {
            node->kind = Node::Kind::real;
            node->real = std::strtod(literal.c_str(), nullptr);
            if (!std::isfinite(node->real)) return refuse(at, fmt::format("{} is too large", literal));
            return node;
        }
        node->kind = Node::Kind::integer;
        std::from_chars_result result{};
        if (hex) {
            std::uint64_t magnitude = 0;
            result = std::from_chars(literal.data() + (negative ? 3 : 2), literal.data() + literal.size(),
                                     magnitude, 16);
            if (result.ec == std::errc{} && magnitude > std::numeric_limits<std::int64_t>::max()) {
                result.ec = std::errc::result_out_of_range;
            }
            node->integer = static_cast<std::int64_t>(magnitude) * (negative ? -1 : 1);
        } else {
            result = std::from_chars(literal.data(), literal.data() + literal.size(), node->integer);
        }
        if (result.ec == std::errc::result_out_of_range) {
            return refuse(at, fmt::format("{} does not fit 64 bits", literal));
        }
        if (result.ec != std::errc{}) return refuse(at, fmt::format("`{}` is not a number", literal));
        return node;
    }

    std::string_view text_;
    std::size_t pos_ = 0;
    std::optional<Error> error_;
};

// ---- evaluation -----------------------------------------------------------------------------------------

Number integer_number(std::int64_t value) { return {false, value, 0}; }
Number real_number(double value) { return {true, 0, value}; }

Error at(const Node& node, std::string message, std::string hint = {}) {
    return Error{std::move(message), {}, 0, node.column, std::move(hint)};
}
Error overflow(const Node& node) {
    return at(node, fmt::format("the result of `{}` does not fit 64 bits", node.token));
}

bool truth(const Number& value) { return value.is_real ? value.real != 0 : value.integer != 0; }

Result<Number> divide(const Node& node, std::int64_t a, std::int64_t b, bool remainder) {
    if (b == 0) return at(node, "division by zero");
    if (b == -1) {
        if (remainder) return integer_number(0);
        if (a == std::numeric_limits<std::int64_t>::min()) return overflow(node);
        return integer_number(-a);
    }
    const std::int64_t quotient = a / b, rest = a % b;
    const bool adjust = rest != 0 && (rest < 0) != (b < 0);
    if (remainder) return integer_number(adjust ? rest + b : rest);
    return integer_number(adjust ? quotient - 1 : quotient);
}

template <class T>
std::optional<bool> compare(std::string_view op, T a, T b) {
    if (op == "==") return a == b;
    if (op == "!=") return a != b;
    if (op == "<") return a < b;
    if (op == "<=") return a <= b;
    if (op == ">") return a > b;
    if (op == ">=") return a >= b;
    return std::nullopt;
}

Result<Number> apply_binary(const Node& node, const Number& a, const Number& b) {
    const std::string_view op = node.token;
    if (a.is_real || b.is_real) {
        const double x = a.as_real(), y = b.as_real();
        if (const auto result = compare(op, x, y)) return integer_number(*result ? 1 : 0);
        if (op == "+") return real_number(x + y);
        if (op == "-") return real_number(x - y);
        if (op == "*") return real_number(x * y);
        if (op == "%") return at(node, "`%` takes integers only");
        if (y == 0) return at(node, "division by zero");
        return real_number(x / y);
    }
    const std::int64_t x = a.integer, y = b.integer;
    if (const auto result = compare(op, x, y)) return integer_number(*result ? 1 : 0);
    std::int64_t result = 0;
    bool too_large = false;
    if (op == "+") {
        too_large = __builtin_add_overflow(x, y, &result);
    } else if (op == "-") {
        too_large = __builtin_sub_overflow(x, y, &result);
    } else if (op == "*") {
        too_large = __builtin_mul_overflow(x, y, &result);
    } else {
        return divide(node, x, y, op == "%");
    }
    if (too_large) return overflow(node);
    return integer_number(result);
}

Result<Number> apply_call(const Node& node, const std::vector<Number>& arguments) {
    const bool real =
        std::any_of(arguments.begin(), arguments.end(), [](const Number& n) { return n.is_real; });
    if (node.token == "min" || node.token == "max") {
        Number best = arguments[0];
        for (const Number& n : arguments) {
            const bool less = real ? n.as_real() < best.as_real() : n.integer < best.integer;
            const bool greater = real ? n.as_real() > best.as_real() : n.integer > best.integer;
            if (node.token == "min" ? less : greater) best = n;
        }
        return real ? real_number(best.as_real()) : best;
    }
    if (real) return at(node, fmt::format("{} takes integers only", node.token));
    if (node.token == "ceil_div") {
        const auto floor = divide(node, arguments[0].integer, arguments[1].integer, false);
        if (!floor) return floor;
        // No overflow: a quotient that is not exact lies strictly inside the range.
        return integer_number(floor->integer + (arguments[0].integer % arguments[1].integer != 0 ? 1 : 0));
    }
    const std::int64_t n = arguments[0].integer;
    if (n > (std::int64_t{1} << 62)) return overflow(node);
    std::int64_t power = 1;
    while (power < n) power *= 2;
    return integer_number(power);
}

Result<Number> evaluate_node(const Node& node, const Environment& environment) {
    switch (node.kind) {
        case Node::Kind::integer:
            return integer_number(node.integer);
        case Node::Kind::real:
            return real_number(node.real);
        case Node::Kind::name: {
            if (const auto it = environment.integers.find(node.token); it != environment.integers.end()) {
                return integer_number(it->second);
            }
            if (const auto it = environment.reals.find(node.token); it != environment.reals.end()) {
                return real_number(it->second);
            }
            const auto& facts = device_fact_names();
            if (std::find(facts.begin(), facts.end(), node.token) != facts.end()) {
                return at(node, fmt::format("the device fact `{}` is not known here", node.token));
            }
            std::vector<std::string> known = facts;
            for (const auto& [name, value] : environment.integers) known.push_back(name);
            for (const auto& [name, value] : environment.reals) known.push_back(name);
            return at(node, fmt::format("unknown name `{}`{}", node.token, did_you_mean(node.token, known)));
        }
        case Node::Kind::resident_blocks: {
            const auto it = environment.resident_blocks.find(node.token);
            if (it == environment.resident_blocks.end()) {
                return at(node, fmt::format("resident_blocks({}) is not known here", node.token));
            }
            return integer_number(it->second);
        }
        case Node::Kind::unary: {
            const auto value = evaluate_node(*node.children[0], environment);
            if (!value || node.token == "+") return value;
            if (node.token == "!") return integer_number(truth(*value) ? 0 : 1);
            if (value->is_real) return real_number(-value->real);
            if (value->integer == std::numeric_limits<std::int64_t>::min()) return overflow(node);
            return integer_number(-value->integer);
        }
        case Node::Kind::binary: {
            const auto left = evaluate_node(*node.children[0], environment);
            if (!left) return left;
            if (node.token == "&&" || node.token == "||") {
                if (truth(*left) == (node.token == "||")) return integer_number(truth(*left) ? 1 : 0);
                const auto right = evaluate_node(*node.children[1], environment);
                if (!right) return right;
                return integer_number(truth(*right) ? 1 : 0);
            }
            const auto right = evaluate_node(*node.children[1], environment);
            if (!right) return right;
            return apply_binary(node, *left, *right);
        }
        case Node::Kind::conditional: {
            const auto condition = evaluate_node(*node.children[0], environment);
            if (!condition) return condition;
            return evaluate_node(*node.children[truth(*condition) ? 1 : 2], environment);
        }
        case Node::Kind::call: {
            std::vector<Number> arguments;
            for (const NodePtr& child : node.children) {
                const auto value = evaluate_node(*child, environment);
                if (!value) return value;
                arguments.push_back(*value);
            }
            return apply_call(node, arguments);
        }
    }
    return at(node, "an expression of an unknown kind");
}

template <class Visit>
void walk(const Node& node, const Visit& visit) {
    visit(node);
    for (const NodePtr& child : node.children) walk(*child, visit);
}

}  // namespace

const std::vector<std::string>& device_fact_names() {
    static const std::vector<std::string> names = {"sm_count", "smem_optin", "cc"};
    return names;
}

const std::vector<std::string>& reserved_expression_names() {
    static const std::vector<std::string> names = {
        "min", "max",  "ceil_div", "next_pow2", "resident_blocks", "sm_count", "smem_optin",
        "cc",  "true", "false",    "null"};
    return names;
}

bool is_identifier(std::string_view text) {
    return !text.empty() && starts_name(text[0]) && std::all_of(text.begin(), text.end(), in_name);
}

Result<Expression> Expression::parse(std::string_view text) {
    auto root = Parser(text).parse();
    if (!root) return root.error();
    Expression expression;
    expression.text_ = std::string(text);
    expression.root_ = std::move(*root);
    return expression;
}

Expression Expression::constant(std::int64_t value) {
    auto node = std::make_shared<Node>();
    node->kind = Node::Kind::integer;
    node->column = 1;
    node->integer = value;
    Expression expression;
    expression.text_ = std::to_string(value);
    expression.root_ = std::move(node);
    return expression;
}

Result<Number> Expression::evaluate_number(const Environment& environment) const {
    if (!root_) return Error{"an expression is missing here"};
    return evaluate_node(*root_, environment);
}

Result<std::int64_t> Expression::evaluate(const Environment& environment) const {
    const auto value = evaluate_number(environment);
    if (!value) return value.error();
    if (value->is_real) {
        return Error{
            fmt::format("`{}` is {}, an integer is needed", text_, value->real), {}, 0, root_->column};
    }
    return value->integer;
}

Result<double> Expression::evaluate_real(const Environment& environment) const {
    const auto value = evaluate_number(environment);
    if (!value) return value.error();
    return value->as_real();
}

std::set<std::string> Expression::names() const {
    std::set<std::string> out;
    if (root_) {
        walk(*root_, [&](const Node& node) {
            if (node.kind == Node::Kind::name) out.insert(node.token);
        });
    }
    return out;
}

std::set<std::string> Expression::kernels() const {
    std::set<std::string> out;
    if (root_) {
        walk(*root_, [&](const Node& node) {
            if (node.kind == Node::Kind::resident_blocks) out.insert(node.token);
        });
    }
    return out;
}

int Expression::column_of(const std::string& name) const {
    int column = 0;
    if (root_) {
        walk(*root_, [&](const Node& node) {
            const bool match = (node.kind == Node::Kind::name || node.kind == Node::Kind::resident_blocks) &&
                               node.token == name;
            if (match && (column == 0 || node.column < column)) column = node.column;
        });
    }
    return column;
}

bool Expression::has_real_literal() const {
    bool found = false;
    if (root_) walk(*root_, [&](const Node& node) { found = found || node.kind == Node::Kind::real; });
    return found;
}

}  // namespace kernelwright
