#include "verifiers/reference/products.h"

#include <algorithm>
#include <cmath>

#include "verifiers/reference/parallel.h"

namespace kernelwright::reference {
namespace {

// Wider vectors where the machine has them; without contraction the results are the same everywhere.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define KW_WIDE_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define KW_WIDE_VECTORS
#endif

// Two rows of C and of the magnitudes at once: each element of B that is read serves four results.
KW_WIDE_VECTORS
void accumulate(const double* __restrict__ a0, const double* __restrict__ a1, const double* __restrict__ b,
                double* __restrict__ c0, double* __restrict__ c1, double* __restrict__ s0,
                double* __restrict__ s1, std::int64_t n, std::int64_t k, std::int64_t stride) {
    for (std::int64_t l = 0; l < k; ++l) {
        const double x0 = a0[l], x1 = a1[l];
        const double* __restrict__ row = b + l * stride;
        for (std::int64_t j = 0; j < n; ++j) {
            const double p0 = x0 * row[j], p1 = x1 * row[j];
            c0[j] += p0;
            c1[j] += p1;
            s0[j] += std::fabs(p0);
            s1[j] += std::fabs(p1);
        }
    }
}

}  // namespace

Product multiply(const double* a, const double* b, std::int64_t m, std::int64_t n, std::int64_t k) {
    Product out;
    out.m = m, out.n = n, out.k = k;
    out.value.assign(static_cast<std::size_t>(m * n), 0.0);
    out.magnitude.assign(static_cast<std::size_t>(m * n), 0.0);
    out.row_quantum.assign(static_cast<std::size_t>(m), any_quantum);
    out.column_quantum.assign(static_cast<std::size_t>(n), any_quantum);
    for (std::int64_t i = 0; i < m; ++i) {
        int& quantum = out.row_quantum[static_cast<std::size_t>(i)];
        for (std::int64_t l = 0; l < k; ++l) quantum = std::min(quantum, quantum_exponent(a[i * k + l]));
    }
    for (std::int64_t l = 0; l < k; ++l) {
        for (std::int64_t j = 0; j < n; ++j) {
            int& quantum = out.column_quantum[static_cast<std::size_t>(j)];
            quantum = std::min(quantum, quantum_exponent(b[l * n + j]));
        }
    }
    constexpr std::int64_t strip = 1024;  // columns whose sums stay in the first cache
    const std::int64_t pairs = (m + 1) / 2;
    parallel_for(pairs, static_cast<double>(n * k) * 2, [&](std::int64_t begin, std::int64_t end) {
        std::vector<double> spare(static_cast<std::size_t>(2 * std::min(n, strip)));
        for (std::int64_t j = 0; j < n; j += strip) {
            const std::int64_t width = std::min(strip, n - j);
            for (std::int64_t pair = begin; pair < end; ++pair) {
                const std::int64_t i = 2 * pair;
                const bool both = i + 1 < m;
                double* c0 = out.value.data() + i * n + j;
                double* s0 = out.magnitude.data() + i * n + j;
                accumulate(a + i * k, both ? a + (i + 1) * k : a + i * k, b + j, c0,
                           both ? c0 + n : spare.data(), s0, both ? s0 + n : spare.data() + width, width, k,
                           n);
            }
        }
    });
    return out;
}

std::vector<std::int64_t> multiply_integers(const std::int64_t* a, const std::int64_t* b, std::int64_t m,
                                            std::int64_t n, std::int64_t k) {
    std::vector<std::int64_t> c(static_cast<std::size_t>(m * n), 0);
    parallel_for(m, static_cast<double>(n * k), [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::uint64_t> row(static_cast<std::size_t>(n));
        for (std::int64_t i = begin; i < end; ++i) {
            std::fill(row.begin(), row.end(), 0);
            for (std::int64_t l = 0; l < k; ++l) {
                const auto x = static_cast<std::uint64_t>(a[i * k + l]);
                for (std::int64_t j = 0; j < n; ++j) {
                    row[static_cast<std::size_t>(j)] += x * static_cast<std::uint64_t>(b[l * n + j]);
                }
            }
            for (std::int64_t j = 0; j < n; ++j) {
                c[static_cast<std::size_t>(i * n + j)] =
                    static_cast<std::int64_t>(row[static_cast<std::size_t>(j)]);
            }
        }
    });
    return c;
}

ProductRounding product_rounding(const Precision& p, DType a, DType b) {
    const auto significand = [](DType dtype) {
        return is_float(dtype) ? significand_bits(dtype) : bits(dtype);
    };
    ProductRounding out;
    out.extra = significand(a) + significand(b) <= p.significand ? 0 : 1;
    out.per_addition = std::max(significand(a), significand(b)) <= 11 ? 2 : 1;
    return out;
}

}  // namespace kernelwright::reference
