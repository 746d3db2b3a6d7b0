// Products of matrices with what their bound needs: sums of magnitudes and the powers of two that divide the
// terms. The loops run over rows of B so that every access is consecutive; the order of additions is fixed.
#pragma once

#include <cstdint>
#include <vector>

#include "verifiers/reference/rounding.h"

namespace kernelwright::reference {

// C = A B for row-major A [m, k], B [k, n].
struct Product {
    std::int64_t m = 0, n = 0, k = 0;
    std::vector<double> value, magnitude;  // [m, n]
    std::vector<int> row_quantum, column_quantum;
    int quantum(std::int64_t row, std::int64_t column) const {
        const int a = row_quantum[static_cast<std::size_t>(row)],
                  b = column_quantum[static_cast<std::size_t>(column)];
        if (a == any_quantum || b == any_quantum) return any_quantum;
        return a == no_quantum || b == no_quantum ? no_quantum : a + b;
    }
};
Product multiply(const double* a, const double* b, std::int64_t m, std::int64_t n, std::int64_t k);
// The same for integers, modulo 2^64.
std::vector<std::int64_t> multiply_integers(const std::int64_t* a, const std::int64_t* b, std::int64_t m,
                                            std::int64_t n, std::int64_t k);

// How a product of two types is rounded on its way into a sum.
struct ProductRounding {
    double extra = 1;         // roundings of a product: none where the significands fit side by side
    double per_addition = 1;  // 2 where tensor cores may add
};
ProductRounding product_rounding(const Precision& p, DType a, DType b);

}  // namespace kernelwright::reference
