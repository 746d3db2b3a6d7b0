// The arithmetic of tensor cores on whole matrices.
//
// What follows is the model that MMA-Sim (arXiv 2511.10909) found to agree bit for bit with GPUs. One step
// adds up to `chunk` products to the accumulator: products are exact, each term (the accumulator is one) is
// aligned to the largest exponent of the step and cut, toward zero, at `fraction_bits` below it; the integer
// sum is exact and is rounded once: toward zero to f32, to nearest even to f16. An infinity or a NaN in a
// step decides its result; NaNs are 0x7fffffff and 0x7fff. A zero has exponent -126. f64 is a chain of fused
// multiply-adds in k's order, integers are exact.
#pragma once

#include <cstdint>

#include "emulator/emulator.h"
#include "emulator/src/exec/isa.h"

namespace emulator::exec::EMULATOR_ISA {

struct FloatFormat {
    int mantissa = 0, exponent_bits = 0, bias = 0;
    bool has_infinity = true;  // e4m3: no infinity, one NaN pattern
    bool finite = false;       // neither infinity nor NaN
};
constexpr FloatFormat kF16{10, 5, 15, true}, kBf16{7, 8, 127, true}, kTf32{10, 8, 127, true},
    kE4m3{3, 4, 7, false}, kE5m2{2, 5, 15, true}, kE2m1{1, 2, 1, false, true}, kE2m3{3, 2, 1, false, true},
    kE3m2{2, 3, 3, false, true};

inline FloatFormat format_of(ptx::Type type) {
    switch (type) {
        case ptx::Type::bf16:
            return kBf16;
        case ptx::Type::tf32:
            return kTf32;
        case ptx::Type::e4m3:
            return kE4m3;
        case ptx::Type::e5m2:
            return kE5m2;
        case ptx::Type::e2m1:
            return kE2m1;
        case ptx::Type::e2m3:
            return kE2m3;
        case ptx::Type::e3m2:
            return kE3m2;
        default:
            return kF16;
    }
}

struct FloatRecipe {
    FloatFormat a, b;
    int fraction_bits = 24;
    int chunk = 8;
    bool output_f16 = false;
    int output_bits = 23;  // of an f32 result's mantissa: 13 for 8-bit floats of some GPUs
    // Other than nominal: the exact sum rounded to nearest, or (PTX: at least single precision, half for f16
    // results, order unspecified) a sum that is rounded down, up or, in an order of the seed, to nearest
    // after every term.
    Options::Approximation approximation = Options::Approximation::nominal;
    std::uint64_t seed = 0;
};

// D = A B + C; a is m x k, b k x n, c and d m x n, row by row, each element's bits in the low part of a word.
// n is a multiple of 8; m k and n k are at most 1024. c and d hold f16 or f32 bits as the recipe says.
void multiply_float(const FloatRecipe& recipe, int m, int n, int k, const std::uint32_t* a,
                    const std::uint32_t* b, const std::uint32_t* c, std::uint32_t* d);
// Block scaling: of each row of A and each column of B the elements along k are in `groups` groups of k /
// groups with a scale each, scale_a m x groups, scale_b groups x n; ue8m0 is a power of two, ue4m3 an e4m3
// without its sign. With one group a product's exponent takes in its scales; otherwise 16 products at a time
// are summed exactly and scaled before they are aligned. Results are f32.
void multiply_scaled(const FloatRecipe& recipe, int m, int n, int k, const std::uint32_t* a,
                     const std::uint32_t* b, const std::uint32_t* c, std::uint32_t* d, int groups,
                     ptx::Type scale, const std::uint32_t* scale_a, const std::uint32_t* scale_b);
// A finite accumulator times 2^-by.
std::uint32_t scaled_down(const FloatRecipe& recipe, std::uint32_t accumulator, int by);
// In the host's rounding direction.
void multiply_double(int m, int n, int k, const std::uint64_t* a, const std::uint64_t* b,
                     const std::uint64_t* c, std::uint64_t* d);
// Elements are sign- or zero-extended already. `saturate` clamps to 32 bits instead of wrapping.
void multiply_integer(int m, int n, int k, const std::int32_t* a, const std::int32_t* b,
                      const std::uint32_t* c, std::uint32_t* d, bool saturate);
// Words of 32 bits; popcount of the exclusive or (or the conjunction).
void multiply_bits(int m, int n, int words, const std::uint32_t* a, const std::uint32_t* b,
                   const std::uint32_t* c, std::uint32_t* d, bool exclusive_or);

}  // namespace emulator::exec::EMULATOR_ISA
