// A sum of terms in any order: how far a legal kernel may be from the exact result. One place for the rule
// that all reductions, scans, products of matrices and convolutions share.
#pragma once

#include <cmath>
#include <cstdint>

#include "verifiers/reference/rounding.h"

namespace kernelwright::reference {

struct SumFacts {
    double value = 0;      // the sum
    double magnitude = 0;  // the sum of magnitudes
    int quantum = any_quantum;
    std::int64_t terms = 0;

    void add(double term) {
        value += term;
        magnitude += std::fabs(term);
        quantum = std::min(quantum, quantum_exponent(term));
        ++terms;
    }
};

// Bound on the error before the result is stored. Each term takes part in at most terms-1 additions, whatever
// the tree (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., eq. 4.4), and in `extra`
// roundings of its own (a product, a conversion). Where the result is stored in the arithmetic's own type the
// last of them is the store's. When every partial sum fits the significand, and with it every term, nothing
// is rounded in any order and the bound is 0: draws of small integers make an exact test. `per_addition` is 2
// for tensor cores, whose additions truncate instead of rounding (Fasi et al. 2021).
inline double sum_error(const Precision& p, double magnitude, int quantum, std::int64_t terms, double extra,
                        bool stored_wide, double per_addition = 1) {
    if (terms <= 0 || magnitude == 0) return 0;
    if (!std::isfinite(magnitude)) return 0;
    if (p.exact_sum(magnitude, quantum)) return 0;
    double roundings = per_addition * static_cast<double>(terms - 1) + extra;
    // (in f64 the reference's own last rounding stays, unless it is the only one and therefore the same)
    if (stored_wide && per_addition == 1 && (p.type != DType::f64 || roundings <= 1)) roundings -= 1;
    const double underflow = extra > 0 && terms > 1 ? static_cast<double>(terms) * p.half_subnormal : 0;
    return p.gamma(roundings) * magnitude + underflow;
}

// What a sum by float atomics may lose: red.add.f32 on global memory takes subnormal operands and results for
// zero (PTX ISA, `atom`). Nothing where no partial sum of any order can be subnormal.
inline double atomic_flush(const Precision& p, int quantum, std::int64_t terms) {
    if (p.type != DType::f32 || quantum == any_quantum || quantum >= exponent_of(p.smallest_normal)) return 0;
    return 2 * static_cast<double>(terms) * p.smallest_normal;
}

}  // namespace kernelwright::reference
