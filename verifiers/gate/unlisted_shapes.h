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

}  // namespace kernelwright
