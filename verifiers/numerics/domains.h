// What each operand of an op can bear: how large its values may be before the reference, the accumulation
// type or the output overflows, and where the function is defined at all. Adversarial draws stay inside.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/tensor.h"
#include "harness/tasks/task.h"

namespace kernelwright {

struct Domain {
    double limit = 1e300;      // largest magnitude
    double floor = 0;          // smallest magnitude (0: zero is fine)
    double typical = 1;        // standard deviation of a plain draw
    bool positive = false;     // values above 0 only
    bool unit = false;         // within [0, 1]
    bool nonpositive = false;  // at most 0 (a log decay)
    bool unit_rows = false;    // rows along the last axis of length at most 1
    double integer_limit = 8;  // for draws of small integers whose sums are exact
    double wide_limit = 0;     // integers with more bits than the next narrower type has; 0: no such draw
    std::int64_t terms = 1;    // how many terms are added up
    // What the draws `lowest` and `highest` come near to, with its sign in `lowest`; 0: they draw plain
    // values.
    double extreme = 0;
    bool whole_extreme = false;  // ... in integers, so that scores of attention stay exact
    int zero_side = 0;  // sign of what stands among the zeros of `signed_zeros`, so that a zero is selected
};

// How the op treats its operands: decides which draws make sense.
enum class OpClass { copy, linear, product, smooth, exponential, normaliser, index_only, other };
OpClass op_class(const std::string& op);

// Does the op look for the largest (1) or the smallest (-1) element of a row, or for both (2)? 0: neither.
int seeks(const std::string& op);

// One per input of the task. Without an op, cautious ones.
std::vector<Domain> domains(const Task& task, const std::vector<Shape>& shapes);
// The op's operand that input number `input` is ("" when there is no op or too many inputs).
std::string operand_of(const Task& task, std::size_t input);

}  // namespace kernelwright
