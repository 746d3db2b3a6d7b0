// NumPy's .npy files (format version 1.0, C order): how tensors go to an outside reference program and come
// back.
#pragma once

#include <string>
#include <string_view>

#include "harness/core/result.h"
#include "harness/core/tensor.h"

namespace kernelwright {

// NumPy has no f16-like types beyond half: bf16, tf32 and the 8- and 4-bit floats are written as float32, i4
// as int8; every value is kept exactly. `widen` writes all floating types as float64.
std::string to_npy(const Tensor& tensor, bool widen);

// Values of a float or integer array of any of NumPy's plain numeric types, little-endian, C order. The
// result's dtype is f64 for floating arrays and i64 for integer and bool ones.
Result<Tensor> from_npy(std::string_view bytes, const std::string& name);

}  // namespace kernelwright
