// A dtype as the text of a page or a plan.
#pragma once

#include "harness/core/dtype.h"
#include "harness/core/result.h"

namespace kernelwright {

// The error, without a place, names what was meant: `float32` is `f32` here. `what` is whose dtype it is.
Result<DType> read_dtype(const std::string& name, const std::string& what);

}  // namespace kernelwright
