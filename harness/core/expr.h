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

class Expression {
  public:
    // Columns in errors are 1-based within `text`.
    static Result<Expression> parse(std::string_view text);
    static Expression constant(std::int64_t value);

    Result<std::int64_t> evaluate(const Environment& environment) const;
    // The same, where a real value is allowed (a kernel argument such as `alpha * 2`).
    Result<double> evaluate_real(const Environment& environment) const;
    std::set<std::string> names() const;  // symbols read; function names not included
    const std::string& text() const { return text_; }
    bool operator==(const Expression& other) const { return text_ == other.text_; }

    struct Node;

  private:
    std::string text_;
    std::shared_ptr<const Node> root_;
};

using SymbolValues = std::map<std::string, std::int64_t>;

}  // namespace kernelwright
