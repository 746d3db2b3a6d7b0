// The text of `inputs.X.values`: a kind and its arguments, such as `ints(0, N - 1)`.
#pragma once

#include <string_view>

#include "harness/tasks/task.h"

namespace kernelwright {

// Errors have no place; the caller knows it.
Result<ValueSpec> parse_value_spec(std::string_view text, DType dtype);

}  // namespace kernelwright
