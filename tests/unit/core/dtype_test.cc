#include "harness/core/dtype.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace kernelwright {
namespace {

std::uint64_t pattern_of(DType dtype, double value) {
    std::array<std::byte, 8> buffer{};
    store(dtype, buffer.data(), 0, value);
    return load_bits(dtype, buffer.data(), 0);
}

// Values worked out from the formats' definitions (IEEE 754, OCP OFP8, OCP MX).
TEST(DType, KnownPatterns) {
    EXPECT_EQ(pattern_of(DType::f16, 1.0), 0x3c00U);
    EXPECT_EQ(pattern_of(DType::f16, 65504.0), 0x7bffU);
    EXPECT_EQ(pattern_of(DType::f16, 65520.0), 0x7c00U);
    EXPECT_EQ(pattern_of(DType::f16, 65519.0), 0x7bffU);
    EXPECT_EQ(pattern_of(DType::f16, std::ldexp(1.0, -24)), 0x0001U);
    EXPECT_EQ(pattern_of(DType::f16, std::ldexp(1.0, -25)), 0x0000U);
    EXPECT_EQ(pattern_of(DType::f16, -0.0), 0x8000U);
    EXPECT_EQ(pattern_of(DType::bf16, 1.0 + std::ldexp(1.0, -8)), 0x3f80U);  // a tie goes to even
    EXPECT_EQ(pattern_of(DType::bf16, 1.0 + 3 * std::ldexp(1.0, -8)), 0x3f82U);
    EXPECT_EQ(pattern_of(DType::e4m3, 448.0), 0x7eU);
    EXPECT_EQ(pattern_of(DType::e4m3, 480.0), 0x7fU);
    EXPECT_EQ(pattern_of(DType::e4m3, std::ldexp(1.0, -9)), 0x01U);
    EXPECT_EQ(pattern_of(DType::e5m2, 57344.0), 0x7bU);
    EXPECT_EQ(pattern_of(DType::e2m1, 6.0), 0x7U);
    EXPECT_EQ(pattern_of(DType::e2m1, 100.0), 0x7U);
    EXPECT_EQ(pattern_of(DType::e2m1, 0.5), 0x1U);
    EXPECT_EQ(pattern_of(DType::tf32, 1.0 + std::ldexp(1.0, -11)), 0x3f800000U);
    EXPECT_EQ(pattern_of(DType::i8, -129.0), 0x80U);
    EXPECT_EQ(pattern_of(DType::i4, -1.0), 0xfU);
    EXPECT_EQ(largest_finite(DType::e4m3), 448.0);
    EXPECT_EQ(largest_finite(DType::e5m2), 57344.0);
    EXPECT_EQ(unit_roundoff(DType::f32), std::ldexp(1.0, -24));
}

// Every pattern of the small formats survives a round trip through double.
TEST(DType, EveryPatternSurvives) {
    for (const DType dtype : all_dtypes()) {
        if (bits(dtype) > 16) continue;
        for (std::uint64_t pattern = 0; pattern < (std::uint64_t{1} << bits(dtype)); ++pattern) {
            if (dtype == DType::boolean && pattern > 1) continue;
            std::array<std::byte, 8> buffer{};
            store_bits(dtype, buffer.data(), 0, pattern);
            const double value = load(dtype, buffer.data(), 0);
            if (std::isnan(value)) continue;
            EXPECT_EQ(pattern_of(dtype, value), pattern) << to_string(dtype);
        }
    }
}

TEST(DType, PackedNibblesLowFirst) {
    std::array<std::byte, 2> buffer{};
    for (int i = 0; i < 4; ++i) store_integer(DType::i4, buffer.data(), i, i - 2);
    EXPECT_EQ(buffer[0], std::byte{0xfe});
    EXPECT_EQ(buffer[1], std::byte{0x10});
    for (int i = 0; i < 4; ++i) EXPECT_EQ(load_integer(DType::i4, buffer.data(), i), i - 2);
    EXPECT_EQ(storage_bytes(DType::i4, 3), 2U);
}

// The compiler's own half type is the oracle for rounding to f16.
TEST(DType, AgreesWithCompilerHalf) {
    for (int i = 0; i < 200000; ++i) {
        const float value = std::ldexp(1.0F + static_cast<float>(i) * 1.7e-6F, (i % 45) - 26);
        const auto half = static_cast<_Float16>(value);
        EXPECT_EQ(round_to(DType::f16, value), static_cast<double>(static_cast<float>(half))) << value;
    }
}

}  // namespace
}  // namespace kernelwright
