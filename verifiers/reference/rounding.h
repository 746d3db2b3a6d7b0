// What one rounding costs. `Rounder` answers for a stored type, `Precision` for the arithmetic a kernel of
// the task may legally use. A bound is built from these two and from sums of magnitudes, never from a
// measured difference; docs/tolerances.md states every constant with its source.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "harness/core/dtype.h"

namespace kernelwright::reference {

// floor(log2 |x|) for a normal double; -1023 for zero and the subnormals of double.
inline int exponent_of(double x) {
    return static_cast<int>((std::bit_cast<std::uint64_t>(x) >> 52) & 0x7ff) - 1023;
}

inline double power_of_two(int exponent) {
    if (exponent < -1022 || exponent > 1023) return std::ldexp(1.0, exponent);
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// The exponent of the lowest set bit: x is an odd multiple of 2^quantum_exponent(x). Zero is a multiple of
// everything; what is not finite is a multiple of nothing.
constexpr int any_quantum = 1 << 20;
constexpr int no_quantum = -(1 << 20);
inline int quantum_exponent(double x) {
    const auto pattern = std::bit_cast<std::uint64_t>(x);
    const int field = static_cast<int>((pattern >> 52) & 0x7ff);
    std::uint64_t mantissa = pattern & ((std::uint64_t{1} << 52) - 1);
    if (field == 0x7ff) return no_quantum;
    if (field == 0) return mantissa == 0 ? any_quantum : -1074 + std::countr_zero(mantissa);
    mantissa |= std::uint64_t{1} << 52;
    return field - 1075 + std::countr_zero(mantissa);
}

// Rounding into a stored type.
class Rounder {
  public:
    explicit Rounder(DType dtype);

    DType dtype() const { return dtype_; }
    bool floating() const { return significand_ != 0; }
    double largest() const { return largest_; }
    // Half the distance between neighbours of the type in the binade of `magnitude`.
    double half_ulp(double magnitude) const {
        const int exponent = std::max(exponent_of(magnitude), lowest_exponent_);
        return power_of_two(exponent - significand_);
    }
    // To nearest even; overflow as the type does it (8-bit and smaller floats saturate, as CUDA converts).
    double round(double value) const;

  private:
    DType dtype_;
    int significand_;      // bits with the hidden one; 0 for integers
    int lowest_exponent_;  // of the normal numbers
    double largest_;
};

// The arithmetic in which a right kernel works.
struct Precision {
    DType type = DType::f32;     // f32, or f64 when an f64 takes part
    double u = 0;                // unit roundoff of one operation
    double half_subnormal = 0;   // absolute error of an operation that underflows
    double smallest_normal = 0;  // what flush-to-zero loses
    double largest = 0;
    int significand = 24;
    int lowest_quantum = -149;  // exponent of the smallest subnormal
    bool coarse_tanh = false;   // the result has 11 bits or fewer: tanh.approx (2^-11) is in order

    // gamma_n = n u / (1 - n u), Higham's bound for n roundings in a row.
    double gamma(double n) const {
        const double nu = n <= 0 ? 0.0 : n * u;
        return nu < 0.5 ? nu / (1 - nu) : std::numeric_limits<double>::infinity();
    }
    // Do all sums of any of these terms fit the significand? `magnitude` is the sum of their magnitudes and
    // `quantum` the exponent of a power of two that divides each.
    bool exact_sum(double magnitude, int quantum) const {
        if (quantum == any_quantum) return true;
        if (quantum < lowest_quantum) return false;
        return magnitude <= largest && magnitude <= std::ldexp(1.0, significand + quantum);
    }
};

// `input` is the widest floating type among the inputs (or the output's type when all are integers).
Precision precision_for(DType input, DType output);

}  // namespace kernelwright::reference
