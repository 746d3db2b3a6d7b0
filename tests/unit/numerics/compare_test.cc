// The comparison: what it lets through, what it refuses, and what it says.
#include "verifiers/numerics/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "verifiers/numerics/poison.h"

namespace kernelwright {
namespace {

using testing::HasSubstr;

constexpr double infinity = std::numeric_limits<double>::infinity();

Expected floats(DType dtype, Shape shape, std::vector<double> values, double tolerance) {
    Expected e;
    e.dtype = dtype;
    e.shape = std::move(shape);
    e.tolerance.assign(values.size(), tolerance);
    e.value = std::move(values);
    e.bound = "test";
    return e;
}

Comparison against(const Expected& e, const std::vector<double>& got, CompareOptions options = {}) {
    options.name = "y";
    return compare(e, Tensor::from(e.dtype, e.shape, got), options);
}

TEST(Compare, BoundIsInclusiveAndPerElement) {
    Expected e = floats(DType::f64, {3}, {1, 2, 3}, 0.5);
    e.tolerance[1] = 0;
    EXPECT_TRUE(against(e, {1.5, 2, 2.5}).ok());
    const Comparison c = against(e, {1.5, 2.25, 3.75});
    EXPECT_EQ(c.wrong, 2);
    EXPECT_EQ(c.first, 1);
    EXPECT_EQ(c.rule, "wrong-value");
    EXPECT_THAT(c.message, HasSubstr("2 of 3 elements wrong"));
}

TEST(Compare, ZeroToleranceAsksForTheRoundedValue) {
    const double third = 1.0 / 3;
    const Expected e = floats(DType::f32, {1}, {third}, 0);
    EXPECT_TRUE(against(e, {static_cast<double>(static_cast<float>(third))}).ok());
    const Comparison c = against(e, {static_cast<double>(std::nextafter(static_cast<float>(third), 1.0F))});
    EXPECT_FALSE(c.ok());
    EXPECT_NEAR(c.ulps, 1, 0.5);
    EXPECT_THAT(c.message, HasSubstr("the only element"));
}

TEST(Compare, SpecialValues) {
    const Expected e = floats(DType::f32, {3}, {std::nan(""), infinity, -infinity}, 0.25);
    EXPECT_TRUE(against(e, {std::nan(""), infinity, -infinity}).ok());
    EXPECT_EQ(against(e, {1, -infinity, 3e38}).wrong, 3);
    EXPECT_EQ(against(floats(DType::f32, {1}, {1}, 0.25), {std::nan("")}).wrong, 1);
    // A value that rounds to infinity may also stay below it when the bound says so, and the other way round.
    const double edge = 3.402823466e38;
    EXPECT_TRUE(against(floats(DType::f32, {1}, {edge}, 1e33), {infinity}).ok());
    EXPECT_FALSE(against(floats(DType::f32, {1}, {edge / 2}, 1e33), {infinity}).ok());
    EXPECT_TRUE(against(floats(DType::f16, {1}, {70000}, 0), {infinity}).ok());
}

TEST(Compare, ExactMeansEqualBitsButForZerosSignWhereItIsFree) {
    CompareOptions exact;
    exact.exact = true;
    Expected e = floats(DType::f32, {2}, {0, 1}, 0.5);
    EXPECT_TRUE(against(e, {-0.0, 1}, exact).ok());
    EXPECT_FALSE(against(e, {0, 1.25}, exact).ok());
    e.signed_zero = true;
    EXPECT_FALSE(against(e, {-0.0, 1}, exact).ok());
    EXPECT_TRUE(against(e, {-0.0, 1}).ok());
}

TEST(Compare, PageToleranceReplacesTheBound) {
    CompareOptions wide;
    wide.tolerance = Tolerance{0.1, 0.01};
    const Expected e = floats(DType::f32, {1}, {100}, 0);
    EXPECT_TRUE(against(e, {101}, wide).ok());
    EXPECT_FALSE(against(e, {101.2}, wide).ok());
}

TEST(Compare, AlternativesAndIntegers) {
    Expected e;
    e.dtype = DType::i32;
    e.shape = {2};
    e.value = {1, 2};
    e.tolerance = {0, 0};
    e.integer = {1, 2};
    e.alternatives = {{1, {4, 2}}};
    EXPECT_TRUE(against(e, {1, 4}).ok());
    EXPECT_FALSE(against(e, {4, 2}).ok());
    Expected wide;
    wide.dtype = DType::i64;
    wide.shape = {1};
    wide.integer = {(std::int64_t{1} << 60) + 1};
    wide.value = {std::ldexp(1.0, 60)};
    wide.tolerance = {0};
    Tensor t = Tensor::zeros(DType::i64, {1});
    t.set_integer(0, (std::int64_t{1} << 60) + 1);
    EXPECT_TRUE(compare(wide, t).ok());
    t.set_integer(0, std::int64_t{1} << 60);
    EXPECT_FALSE(compare(wide, t).ok());
}

TEST(Compare, UnwrittenElements) {
    const Expected e = floats(DType::f32, {4}, {1, 2, 3, 4}, 0);
    const std::vector<bool> written{true, true, true, false};
    CompareOptions options;
    options.written = &written;
    const Comparison c = against(e, {1, 2, 3, 4}, options);
    EXPECT_EQ(c.rule, "unwritten-output");
    EXPECT_THAT(c.message, HasSubstr("y[3] was never written"));
    options.ignore_unwritten = true;
    EXPECT_TRUE(against(e, {1, 2, 3, 0}, options).ok());
}

TEST(Compare, RecognisesWhatWentWrong) {
    const std::vector<double> values{1, 2, 3, 4, 5, 6};
    const Expected e = floats(DType::f32, {2, 3}, values, 1e-6);
    EXPECT_THAT(against(e, {0, 0, 0, 0, 0, 0}).message, HasSubstr("all zeros"));
    const double nan = std::nan("");
    EXPECT_THAT(against(e, {nan, nan, nan, nan, nan, nan}).message, HasSubstr("every element is NaN"));
    EXPECT_THAT(against(e, {1, 4, 2, 5, 3, 6}).message, HasSubstr("transposed"));
    EXPECT_THAT(against(e, {1, 3, 5, 2, 4, 6}).message, HasSubstr("transposed"));
    EXPECT_THAT(against(e, {2, 3, 4, 5, 6, 0}).message,
                HasSubstr("shifted by one element towards the start"));
    EXPECT_THAT(against(e, {0, 1, 2, 3, 4, 5}).message, HasSubstr("shifted by one element towards the end"));
    EXPECT_THAT(against(e, {2, 4, 6, 8, 10, 12}).message, HasSubstr("2 times the expected"));
    EXPECT_THAT(against(e, {2, 4, 6, 12, 15, 18}).message, HasSubstr("constant factor of its own"));
    EXPECT_THAT(against(e, {-1, -2, -3, -4, -5, -6}).message, HasSubstr("the sign is wrong"));
    EXPECT_THAT(against(e, {1, 2, 9, 4, 5, 13}).message, HasSubstr("only columns from 2 on"));
    EXPECT_THAT(against(e, {1, 2, 3, 9, 9.5, 13}).message, HasSubstr("only the last 1 of 2 rows"));
    EXPECT_THAT(against(e, {1.0001, 2, 3, 4.0003, 5, 6}).message, HasSubstr("too little precision"));
    EXPECT_THAT(against(e, {3, 2, 1, 6, 5, 4}).message, HasSubstr("each row is reversed"));
    const Tensor x = Tensor::from(DType::f32, {2, 3}, {7, 8, 9, 10, 11, 13});
    CompareOptions options;
    options.inputs = {{"x", &x}};
    EXPECT_THAT(against(e, x.values(), options).message, HasSubstr("equals the input `x`"));
    const Expected flat = floats(DType::f32, {4}, {1, 2, 3, 4}, 1e-6);
    EXPECT_THAT(against(flat, {1, 2, 7, 9.5}).message, HasSubstr("only the last 2 elements are wrong"));
}

TEST(Poison, FillsAndIsRecognised) {
    for (const DType dtype : all_dtypes()) {
        Tensor t = Tensor::zeros(dtype, {5});
        for (std::uint64_t variation = 0; variation < 4; ++variation) {
            poison_fill(t, variation);
            EXPECT_NE(poison_byte(variation), 0);
            for (std::int64_t i = 0; i < 5; ++i)
                EXPECT_TRUE(is_poison(t, i, variation)) << to_string(dtype) << i;
            t.set(3, 1);
            EXPECT_FALSE(is_poison(t, 3, variation)) << to_string(dtype);
            EXPECT_TRUE(is_poison(t, 4, variation)) << to_string(dtype);
        }
    }
}

}  // namespace
}  // namespace kernelwright
