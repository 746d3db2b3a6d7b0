#include "verifiers/reference/rounding.h"

#include <algorithm>

namespace kernelwright::reference {

Rounder::Rounder(DType dtype)
    : dtype_(dtype),
      significand_(significand_bits(dtype)),
      lowest_exponent_(is_float(dtype) ? std::ilogb(smallest_normal(dtype)) : 0),
      largest_(largest_finite(dtype)) {}

double Rounder::round(double value) const {
    if (dtype_ == DType::f64) return value;
    if (dtype_ == DType::f32) return static_cast<float>(value);
    if (!floating() || !std::isfinite(value)) return round_to(dtype_, value);
    const double quantum = 2 * half_ulp(value);
    const double rounded = std::nearbyint(value / quantum) * quantum;
    if (std::fabs(rounded) <= largest_) return rounded;
    const double limit = bits(dtype_) <= 8 ? largest_ : std::numeric_limits<double>::infinity();
    return std::copysign(limit, value);
}

Precision precision_for(DType input, DType output) {
    const bool wide = input == DType::f64 || (!is_float(input) && output == DType::f64);
    Precision p;
    p.type = wide ? DType::f64 : DType::f32;
    // In f64 the reference rounds as much as the candidate does, so each rounding counts twice.
    p.u = unit_roundoff(p.type) * (wide ? 2 : 1);
    p.half_subnormal = smallest_positive(p.type) / 2;
    if (wide) p.half_subnormal = smallest_positive(p.type);
    p.smallest_normal = smallest_normal(p.type);
    p.largest = largest_finite(p.type);
    p.significand = significand_bits(p.type);
    p.lowest_quantum = wide ? -1074 : -149;
    p.coarse_tanh = is_float(output) && significand_bits(output) <= 11;
    return p;
}

}  // namespace kernelwright::reference
