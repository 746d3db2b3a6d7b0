// What a wrong output looks like. Each recogniser tests one habit of wrong kernels; the first that fits is
// named.
#pragma once

#include <string>
#include <vector>

#include "verifiers/numerics/compare.h"

namespace kernelwright {

struct Pattern {
    std::string what;   // "the output equals the input `x`"
    std::string where;  // "only the last 3 columns are wrong"
    std::string hint;
};

Pattern recognise(const Expected& expected, const Tensor& got, const std::vector<bool>& wrong,
                  const CompareOptions& options);

}  // namespace kernelwright
