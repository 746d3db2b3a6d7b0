// The sum of exponentials behind softmax, logsumexp, cross-entropy and attention, with its relative error.
//
// A right kernel subtracts the row's maximum m (or any common shift near it: the shift cancels in a quotient)
// and adds up exp(x_j - m). Each term has the error of the subtraction, u |d_j|, and of the exponential. A
// one-pass ("online") kernel also rescales its running sum whenever the maximum grows: a subtraction, an
// exponential and a product each time, at most n-1 times. The parts of their error that depend on the
// argument add up to that of d_j, since the increments of the maximum do; the constant part is 6 u a step at
// most.
#pragma once

#include <algorithm>
#include <vector>

#include "verifiers/reference/functions.h"

namespace kernelwright::reference {

// Relative error of exp(d) where d was formed by a rounded subtraction (or scaled by log2 e and fused).
inline double shifted_exp_relative(const Precision& p, double d) {
    return exp_relative(p, d) + p.u * std::fabs(d);
}

struct ExpSum {
    double shift = 0;                  // the maximum
    double sum = 0;                    // of exp(x - shift)
    double relative = 0;               // error of a legal kernel's sum
    std::vector<double> exponentials;  // exp(x_k - shift)
    std::int64_t terms = 0;

    double log_sum() const { return shift + std::log(sum); }
};

constexpr double online_step = 6;  // roundings of one rescaling step and its addition

// at(k) gives the k-th of n values; extra(k) the error that it already carries (scores of attention).
template <class At, class Extra>
ExpSum exp_sum(const Precision& p, std::int64_t n, const At& at, const Extra& extra) {
    ExpSum out;
    out.terms = n;
    out.shift = -std::numeric_limits<double>::infinity();
    for (std::int64_t k = 0; k < n; ++k) {
        const double x = at(k);
        if (std::isnan(x) || x > out.shift) out.shift = x;
        if (std::isnan(x)) break;
    }
    double weighted = 0;
    out.exponentials.resize(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < n; ++k) {
        const double d = at(k) - out.shift;
        const double e = std::exp(d);
        out.exponentials[static_cast<std::size_t>(k)] = e;
        out.sum += e;
        if (e > 0) weighted += e * (shifted_exp_relative(p, d) + extra(k));
    }
    out.relative = weighted / out.sum + p.gamma(online_step * static_cast<double>(n - 1));
    return out;
}

template <class At>
ExpSum exp_sum(const Precision& p, std::int64_t n, const At& at) {
    return exp_sum(p, n, at, [](std::int64_t) { return 0.0; });
}

// Error of log(sum exp(x)) formed as shift + log(sum), before it is stored. The base-2 form scales the shift
// by log2 e and back: 3u of the larger of shift and result.
inline double log_sum_error(const Precision& p, const ExpSum& s) {
    const double value = s.log_sum();
    return s.relative + log_error(p, std::log(s.sum)) +
           3 * p.u * std::max(std::fabs(s.shift), std::fabs(value));
}

}  // namespace kernelwright::reference
