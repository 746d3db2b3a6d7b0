// A reference block in another precision: the source that computes the same in doubles, or in floats.
//
// The types, literals and functions are renamed token by token. A macro cannot do it: `-Dfloat=double` also
// reaches the compiler's own headers, which then declare everything twice.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/candidate/candidate.h"
#include "harness/core/dtype.h"
#include "harness/tasks/task.h"

namespace kernelwright {

// `source` with every floating type, literal and function of CUDA C++ as `to` (f64 or f32) has it: `float`,
// `float4`, `1.5f`, `expf`, `__fmul_rn` and, where their headers are included, the scalar 16- and 8-bit types
// with their conversions. Comments, strings and #include lines stay, and so do lines.
std::string in_precision(std::string_view source, DType to);

// Why the block cannot be had in another precision by renaming; nullopt: it can, as far as is seen.
std::optional<std::string> stays_in_its_precision(const Task& task, const Candidate& block);

}  // namespace kernelwright
