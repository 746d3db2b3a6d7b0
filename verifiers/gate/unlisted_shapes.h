// Shapes that the page does not list, for the check to try beyond those that it does: a kernel that is right
// at the listed sizes alone must not pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/tasks/task.h"

namespace kernelwright {

// At most `most` shapes inside the page's ranges (without `max`: up to the largest value among its check and
// tune shapes), the most telling kinds first; none of them is listed. They depend on the page and the seed
// alone. Each costs a small share of what the page's check shapes cost together, and is one that the page's
// expressions and its op can have. Empty where the ranges leave nothing to try.
std::vector<SymbolValues> unlisted_shapes(const Task& task, std::uint64_t seed, std::size_t most);

// A shape at the end of a declared range.
struct RangeEnd {
    SymbolValues symbols;
    bool cheap = false;     // it costs no more than an unlisted shape may
    bool bearable = false;  // ... or no more than the one shape that alone meets a plan may
};
// Each symbol that the page gives a `max` at that end, the others as small as can be; then all such together.
// None is listed, and the op can have each; what is not cheap can at least be bound to a plan.
std::vector<RangeEnd> range_ends(const Task& task);

}  // namespace kernelwright
