// Integer expressions over size symbols: shapes, grids, guards, shared-memory sizes. 64-bit, checked.
//   symbols, integers, + - * / % ( ), comparisons, && || !, ?:, min max ceil_div next_pow2
// `/` floors, `%` has the divisor's sign; comparisons give 0 or 1. Overflow and division by zero are errors.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/result.h"

namespace kernelwright {

// What an expression may read. Integer names are symbols, device facts and integer params; real names are
// floating params (usable only where a real result is allowed: kernel arguments).
struct Environment {
    std::map<std::string, std::int64_t> integers;
    std::map<std::string, double> reals;
    // resident_blocks(KERNEL): set only where the device and the build are known
    std::map<std::string, std::int64_t> resident_blocks;
};

// An expression's value: an integer, or a real where one took part.
struct Number {
    bool is_real = false;
    std::int64_t integer = 0;  // unless is_real
    double real = 0;           // if is_real
    double as_real() const { return is_real ? real : static_cast<double>(integer); }
    bool operator==(const Number&) const = default;
};

// Names that an expression gives a meaning of its own: functions, device facts, true, false and null. No
// symbol, tensor, param or scratch buffer may bear one.
const std::vector<std::string>& reserved_expression_names();
// Of these the device's facts: sm_count smem_optin cc.
const std::vector<std::string>& device_fact_names();
bool is_identifier(std::string_view text);

class Expression {
  public:
    // At most this many characters, and operators nested this deep.
    static constexpr std::size_t max_length = 4096;
    static constexpr int max_depth = 200;

    // Columns in errors are 1-based within `text`.
    static Result<Expression> parse(std::string_view text);
    static Expression constant(std::int64_t value);

    Result<std::int64_t> evaluate(const Environment& environment) const;
    // The same, where a real value is allowed (a kernel argument such as `alpha * 2`).
    Result<double> evaluate_real(const Environment& environment) const;
    // Either, as the operands make it: integers stay exact, a real operand makes the result real.
    Result<Number> evaluate_number(const Environment& environment) const;
    std::set<std::string> names() const;    // symbols read; function names not included
    std::set<std::string> kernels() const;  // the arguments of resident_blocks(KERNEL)
    // 1-based column of the first use of `name`; 0 when it is not read.
    int column_of(const std::string& name) const;
    bool has_real_literal() const;
    const std::string& text() const { return text_; }
    bool operator==(const Expression& other) const { return text_ == other.text_; }

    struct Node;

  private:
    std::string text_;
    std::shared_ptr<const Node> root_;
};

using SymbolValues = std::map<std::string, std::int64_t>;

}  // namespace kernelwright
