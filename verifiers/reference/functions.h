// Elementary functions and activations as a GPU may legally compute them: the exact value (in double) and a
// bound on the error before the result is stored. The constants come from the accuracy tables of the CUDA C++
// Programming Guide (mathematical functions) and of the PTX ISA; docs/tolerances.md quotes them one by one.
// An ulp is at most 2u relative, and each table entry is taken half an ulp larger, since the tables compare
// with the correctly rounded result.
#pragma once

#include <cmath>
#include <numbers>

#include "verifiers/reference/rounding.h"

namespace kernelwright::reference {

struct Estimate {
    double value = 0;
    double error = 0;
};

// Relative error of exp(x): __expf is within 2 + floor(|1.173 x|) ulp, expf within 2; ex2.approx after a
// product with log2(e) is within 2^-22 and what the rounded product costs, 2u|x|.
inline double exp_relative(const Precision& p, double x) { return p.u * (5 + 2.35 * std::fabs(x)); }
// Absolute error of log(x): logf is within 1 ulp; __logf within 3 ulp, or 2^-21.41 (6.1u) on [0.5, 2].
inline double log_error(const Precision& p, double log_value) {
    return p.u * std::max(6.1, 7 * std::fabs(log_value));
}
// Relative error of a division: 0.5 ulp for `/`, 2 ulp for __fdividef and div.approx, and no more for a
// multiplication with a reciprocal (1 ulp) that is itself rounded.
constexpr double division_ulps = 5;
inline double division_relative(const Precision& p) { return division_ulps * p.u; }
// rsqrtf and rsqrt.approx are within 2 ulp; 1/sqrtf with the approximate forms of both within 3.
inline double rsqrt_relative(const Precision& p) { return 7 * p.u; }
// tanh.approx has a relative error of 2^-11: legal where the result keeps 11 bits or fewer.
inline double coarse_tanh_relative(const Precision& p) { return p.coarse_tanh ? 0x1p-11 : 0.0; }

inline double sigmoid(double x) {
    if (x >= 0) return 1 / (1 + std::exp(-x));
    const double e = std::exp(x);
    return e / (1 + e);
}

// 1/(1+exp(-x)): the exponential's error counts with weight 1-y; the sum and the division add theirs. The
// form by tanh(x/2) has an absolute error instead.
inline Estimate sigmoid_estimate(const Precision& p, double x) {
    const double y = sigmoid(x);
    const double rest = sigmoid(-x);
    const double exponential = std::fabs(x) < 800 ? rest * exp_relative(p, x) : 0.0;
    const double relative = exponential + (division_ulps + 1) * p.u;
    return {y, y * relative + 3 * p.u + 0.5 * coarse_tanh_relative(p) + p.smallest_normal};
}

inline Estimate silu_estimate(const Precision& p, double x) {
    if (std::isinf(x)) return {x > 0 ? x : std::numeric_limits<double>::quiet_NaN(), 0};
    const Estimate s = sigmoid_estimate(p, x);
    const double y = x * s.value;
    return {y, std::fabs(x) * s.error + 2 * p.u * std::fabs(y) + p.smallest_normal};
}

// tanhf is within 2 ulp; 1 - 2/(1+exp(2x)) has the absolute error of its last subtraction.
inline Estimate tanh_estimate(const Precision& p, double x) {
    const double y = std::tanh(x);
    const double slope = 1 - y * y;
    const double argument = slope > 0 ? slope * (2.5 + 2.35 * std::fabs(x)) * p.u : 0.0;
    const double absolute = (division_ulps + 4) * p.u + argument;
    return {y, absolute + std::fabs(y) * coarse_tanh_relative(p)};
}

inline double gelu_exact(double x) { return 0.5 * x * std::erfc(-x * std::numbers::sqrt2 / 2); }

// x/2 (1 + erf(x/sqrt 2)): the rounded argument moves erf by its slope, erff is within 2 ulp, and the sum
// with 1 cancels for negative x, so the error is relative to |x|, not to y.
inline Estimate gelu_estimate(const Precision& p, double x) {
    if (std::isinf(x)) return {x > 0 ? x : std::numeric_limits<double>::quiet_NaN(), 0};
    const double y = gelu_exact(x);
    const double density = std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
    const double phi = density * std::fabs(x) * 2 * p.u + (2.5 + 1) * p.u;
    return {y, std::fabs(x) * phi + 3 * p.u * std::fabs(y) + p.smallest_normal};
}

inline double gelu_tanh(double x) {
    const double w = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1 + std::tanh(w));
}

inline Estimate gelu_tanh_estimate(const Precision& p, double x) {
    if (std::isinf(x)) return {x > 0 ? x : std::numeric_limits<double>::quiet_NaN(), 0};
    const double w = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
    const Estimate t = tanh_estimate(p, w);
    const double slope = std::isfinite(w) ? 1 - t.value * t.value : 0.0;
    const double argument = slope > 0 ? slope * std::fabs(w) * 7 * p.u : 0.0;
    // For large negative w the sigmoid form x / (1 + exp(-2w)) is exact in the limit: tanh cancels to 0.
    const double y = w < 0 ? x * sigmoid(2 * w) : 0.5 * x * (1 + t.value);
    const double error = 0.5 * std::fabs(x) * (t.error + argument + 2 * p.u) + 3 * p.u * std::fabs(y);
    return {y, error + p.smallest_normal};
}

// What an epilogue does to a value that already carries an error: the error grows with the function's largest
// slope, and the function adds its own.
struct Activated {
    double slope;
    Estimate (*estimate)(const Precision&, double);
};
inline Estimate through(const Precision& p, const Activated& f, double value, double error) {
    Estimate out = f.estimate(p, value);
    if (std::isnan(value)) return {value, 0};
    out.error += f.slope * error;
    return out;
}
constexpr double gelu_slope = 1.13;  // max of the derivative, at x = sqrt 2
constexpr double silu_slope = 1.10;  // at x = 2.4

}  // namespace kernelwright::reference
