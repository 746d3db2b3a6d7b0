// The tensor cores' arithmetic against a second, slow statement of the same model in doubles, and fragment
// layouts against the PTX ISA's formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "emulator/src/tensor/plan.h"
#define EMULATOR_ISA baseline
#include "emulator/src/tensor/arithmetic.h"

namespace emulator {
namespace {

using exec::baseline::FloatFormat;
using exec::baseline::FloatRecipe;

double decode(const FloatFormat& f, std::uint32_t bits) {
    const int field = static_cast<int>(bits >> f.mantissa) & ((1 << f.exponent_bits) - 1);
    const double fraction = bits & ((1u << f.mantissa) - 1);
    const double sign = (bits >> (f.mantissa + f.exponent_bits)) & 1 ? -1 : 1;
    const double unit = std::ldexp(1.0, -f.mantissa);
    if (f.has_infinity && field == (1 << f.exponent_bits) - 1) {
        return fraction == 0 ? sign * HUGE_VAL : std::nan("");
    }
    if (!f.has_infinity && (bits & 0x7f) == 0x7f) return std::nan("");
    if (field == 0) return sign * fraction * unit * std::ldexp(1.0, 1 - f.bias);
    return sign * (1 + fraction * unit) * std::ldexp(1.0, field - f.bias);
}

struct Parts {
    double significand;
    int exponent;
};
Parts split(double value, int least) {
    if (value == 0) return {0, -126};
    int exponent = 0;
    std::frexp(value, &exponent);
    exponent = std::max(exponent - 1, least);
    return {std::ldexp(value, -exponent), exponent};
}

// One step: the accumulator and `k` products.
std::uint32_t step(const FloatRecipe& r, int k, const std::uint32_t* a, const std::uint32_t* b, int b_stride,
                   std::uint32_t c) {
    const FloatFormat out = r.output_f16 ? exec::baseline::kF16 : FloatFormat{23, 8, 127, true};
    double plain = decode(out, c);
    std::vector<Parts> terms{split(plain, 1 - out.bias)};
    for (int p = 0; p < k; ++p) {
        const double x = decode(r.a, a[p]), y = decode(r.b, b[p * b_stride]);
        plain += x * y;
        const Parts px = split(x, 1 - r.a.bias), py = split(y, 1 - r.b.bias);
        terms.push_back({px.significand * py.significand, px.exponent + py.exponent});
    }
    if (std::isnan(plain)) return r.output_f16 ? 0x7fff : 0x7fffffff;
    if (std::isinf(plain)) {
        return (r.output_f16 ? 0x7c00u : 0x7f800000u) |
               (plain < 0 ? (r.output_f16 ? 0x8000u : 0x80000000u) : 0);
    }
    int top = -100000;
    for (const Parts& t : terms) top = std::max(top, t.exponent);
    double sum = 0;
    for (const Parts& t : terms) {
        sum += std::trunc(std::ldexp(t.significand, r.fraction_bits + t.exponent - top));
    }
    sum = std::ldexp(sum, top - r.fraction_bits);
    const Parts last = split(sum, r.output_f16 ? -14 : -126);
    if (r.output_f16) {
        const double scaled = std::nearbyint(std::ldexp(last.significand, 10));
        const auto half = static_cast<_Float16>(std::ldexp(scaled, last.exponent - 10));
        return std::bit_cast<std::uint16_t>(half);
    }
    const double scaled = std::trunc(std::ldexp(last.significand, r.output_bits));
    const float value = static_cast<float>(std::ldexp(scaled, last.exponent - r.output_bits));
    return std::bit_cast<std::uint32_t>(value == 0 ? 0.0f : value);
}

struct Case {
    const char* name;
    FloatRecipe recipe;
    int k;
};

class TensorFloat : public testing::TestWithParam<Case> {};

TEST_P(TensorFloat, AgreesWithTheSlowModel) {
    const FloatRecipe& r = GetParam().recipe;
    const int k = GetParam().k, m = 16, n = 8;
    std::mt19937 random(7);
    const auto draw = [&](const FloatFormat& f, int style) {
        const int width = 1 + f.mantissa + f.exponent_bits;
        const std::uint32_t any = random() & (width == 32 ? ~0u : (1u << width) - 1);
        const std::uint32_t fraction = any & ((1u << f.mantissa) - 1);
        const std::uint32_t sign = any & (1u << (width - 1));
        if (random() % 11 == 0) return sign;
        if (style == 0)
            return sign | static_cast<std::uint32_t>(f.bias - 2 + random() % 5) << f.mantissa | fraction;
        if (style == 1) return sign | static_cast<std::uint32_t>(random() % 3) << f.mantissa | fraction;
        std::uint32_t bits = any;
        while (style == 2 && !std::isfinite(decode(f, bits))) bits = random() & ((1u << (width - 1)) - 1);
        return bits;
    };
    const FloatFormat out = r.output_f16 ? exec::baseline::kF16 : FloatFormat{23, 8, 127, true};
    for (int round = 0; round < 400; ++round) {
        const int style = round % 4;  // near one, subnormal, any finite, anything
        std::vector<std::uint32_t> a(m * k), b(k * n), c(m * n), d(m * n);
        for (auto& x : a) x = draw(r.a, style == 3 && random() % 40 ? 0 : style);
        for (auto& x : b) x = draw(r.b, style == 3 && random() % 40 ? 0 : style);
        for (auto& x : c) x = draw(out, style == 3 && random() % 40 ? 0 : style);
        exec::baseline::multiply_float(r, m, n, k, a.data(), b.data(), c.data(), d.data());
        for (int i = 0; i < m; ++i) {
            for (int j = 0; j < n; ++j) {
                std::uint32_t expected = c[i * n + j];
                for (int p = 0; p < k; p += r.chunk) {
                    expected = step(r, std::min(r.chunk, k - p), &a[i * k + p], &b[p * n + j], n, expected);
                }
                ASSERT_EQ(d[i * n + j], expected)
                    << std::hex << "round " << round << " row " << i << " column " << j;
            }
        }
    }
}

using namespace exec::baseline;
INSTANTIATE_TEST_SUITE_P(Tensor, TensorFloat,
                         testing::Values(Case{"f16_ampere", {kF16, kF16, 24, 8, false, 23}, 16},
                                         Case{"f16_to_f16", {kF16, kF16, 24, 8, true, 23}, 16},
                                         Case{"f16_hopper", {kF16, kF16, 25, 16, false, 23}, 16},
                                         Case{"bf16_ampere", {kBf16, kBf16, 24, 8, false, 23}, 16},
                                         Case{"bf16_hopper", {kBf16, kBf16, 25, 16, false, 23}, 16},
                                         Case{"tf32_ampere", {kTf32, kTf32, 24, 4, false, 23}, 8},
                                         Case{"tf32_hopper", {kTf32, kTf32, 25, 8, false, 23}, 8},
                                         Case{"e4m3_ada", {kE4m3, kE4m3, 13, 16, false, 13}, 32},
                                         Case{"e5m2_ada", {kE5m2, kE4m3, 13, 16, true, 23}, 32},
                                         Case{"e4m3_hopper", {kE4m3, kE5m2, 25, 32, false, 23}, 32}),
                         [](const auto& info) { return info.param.name; });

TEST(TensorExamples, ByHand) {
    // 1 + 2^-24 products: each 2^-24 is exactly the last of 24 bits below 1 and counts; 2^-25 is cut off.
    const FloatRecipe r{kF16, kF16, 24, 8, false, 23};
    std::vector<std::uint32_t> a(8 * 8, 0), b(8 * 8, 0), c(64, 0x3f800000), d(64);
    for (int p = 0; p < 8; ++p) {
        a[p] = 0x0c00;          // 2^-12
        b[p * 8] = 0x0c00;      // 2^-12 : product 2^-24
        b[p * 8 + 1] = 0x0800;  // 2^-13 : product 2^-25
    }
    multiply_float(r, 8, 8, 8, a.data(), b.data(), c.data(), d.data());
    EXPECT_EQ(d[0], 0x3f800004u);  // 1 + 8 2^-24 = 1 + 2^-21
    EXPECT_EQ(d[1], 0x3f800000u);
    // Toward zero, not to nearest: 1 + 2^-24 + 2^-24 + 2^-24 keeps one unit of 2^-23.
    for (int p = 3; p < 8; ++p) a[p] = 0;
    multiply_float(r, 8, 8, 8, a.data(), b.data(), c.data(), d.data());
    EXPECT_EQ(d[0], 0x3f800001u);
}

// ---- layouts -------------------------------------------------------------------------------------------

using ptx::Type;
using tensor::Layout;
using tensor::Plan;

TEST(TensorLayouts, CoverEveryElementOncePerRepeat) {
    ASSERT_GT(tensor::plans().size(), 80u);
    for (const Plan& plan : tensor::plans()) {
        for (int which = 0; which < 4; ++which) {
            const Layout& layout = plan.layout(which);
            std::vector<int> seen(layout.rows * layout.cols * static_cast<std::uint32_t>(plan.products), 0);
            for (const std::uint16_t position : layout.index) {
                ASSERT_LT(position, seen.size());
                ++seen[position];
            }
            const int repeats = static_cast<int>(layout.registers / layout.distinct);
            for (const int count : seen)
                ASSERT_EQ(count, repeats) << plan.m << " " << plan.n << " " << plan.k;
        }
    }
}

struct At {
    std::uint32_t row, col;
};
At at(const Layout& layout, int element, int lane) {
    const std::uint32_t p = layout.index[static_cast<std::size_t>(element * 32 + lane)];
    return {p / layout.cols, p % layout.cols};
}

const Plan& mma(const char* shape, Type type, Type d) {
    return tensor::plans()[static_cast<std::size_t>(
        tensor::find_plan({false, false, shape, type, type, d, d}))];
}

// The formulas as "Matrix Fragments for mma.m16n8k16" and its neighbours spell them.
TEST(TensorLayouts, FollowThePtxIsa) {
    for (int lane = 0; lane < 32; ++lane) {
        const std::uint32_t group = lane >> 2, thread = lane % 4;
        const Plan& half = mma("m16n8k16", Type::f16, Type::f32);
        for (int i = 0; i < 8; ++i) {
            const At x = at(half.layout_a, i, lane);
            EXPECT_EQ(x.row, (i < 2 || (i >= 4 && i < 6)) ? group : group + 8);
            EXPECT_EQ(x.col, i < 4 ? thread * 2 + (i & 1) : thread * 2 + (i & 1) + 8);
        }
        for (int i = 0; i < 4; ++i) {
            const At x = at(half.layout_b, i, lane);
            EXPECT_EQ(x.row, i < 2 ? thread * 2 + (i & 1) : thread * 2 + (i & 1) + 8);
            EXPECT_EQ(x.col, group);
            const At y = at(half.layout_c, i, lane);
            EXPECT_EQ(y.row, i < 2 ? group : group + 8);
            EXPECT_EQ(y.col, thread * 2 + (i & 1));
        }
        const Plan& half_out = mma("m16n8k8", Type::f16, Type::f16);
        for (int i = 0; i < 4; ++i) {
            const At y = at(half_out.layout_d, i, lane);
            EXPECT_EQ(y.row, i < 2 ? group : group + 8);
            EXPECT_EQ(y.col, thread * 2 + (i & 1));
        }
        const Plan& tf = mma("m16n8k8", Type::tf32, Type::f32);
        for (int i = 0; i < 4; ++i) {
            const At x = at(tf.layout_a, i, lane);
            EXPECT_EQ(x.row, i == 0 || i == 2 ? group : group + 8);
            EXPECT_EQ(x.col, i < 2 ? thread : thread + 4);
        }
        EXPECT_EQ(at(tf.layout_b, 1, lane).row, thread + 4);
        const Plan& byte = mma("m16n8k32", Type::s8, Type::s32);
        for (int i = 0; i < 16; ++i) {
            const At x = at(byte.layout_a, i, lane);
            EXPECT_EQ(x.row, i < 4 || (i >= 8 && i < 12) ? group : group + 8);
            EXPECT_EQ(x.col, i < 8 ? thread * 4 + (i & 3) : thread * 4 + (i & 3) + 16);
        }
        for (int i = 0; i < 8; ++i) {
            EXPECT_EQ(at(byte.layout_b, i, lane).row,
                      i < 4 ? thread * 4 + (i & 3) : thread * 4 + (i & 3) + 16);
        }
        const Plan& byte_short = mma("m16n8k16", Type::u8, Type::s32);
        for (int i = 0; i < 8; ++i) {
            const At x = at(byte_short.layout_a, i, lane);
            EXPECT_EQ(x.row, i < 4 ? group : group + 8);
            EXPECT_EQ(x.col, thread * 4 + (i & 3));
        }
        const Plan& nibble = mma("m16n8k64", Type::s4, Type::s32);
        for (int i = 0; i < 32; ++i) {
            const At x = at(nibble.layout_a, i, lane);
            EXPECT_EQ(x.row, i < 8 || (i >= 16 && i < 24) ? group : group + 8);
            EXPECT_EQ(x.col, i < 16 ? thread * 8 + (i & 7) : thread * 8 + (i & 7) + 32);
        }
        const Plan& bits = mma("m16n8k256", Type::b1, Type::s32);
        EXPECT_EQ(at(bits.layout_a, 1, lane).row, group + 8);
        EXPECT_EQ(at(bits.layout_a, 2, lane).col, thread + 4);
        const Plan& wide = mma("m8n8k4", Type::f64, Type::f64);
        EXPECT_EQ(at(wide.layout_a, 0, lane).row, group);
        EXPECT_EQ(at(wide.layout_a, 0, lane).col, thread);
        EXPECT_EQ(at(wide.layout_c, 1, lane).col, thread * 2 + 1);
    }
}

// The numbers of registers that PTX gives wmma fragments.
TEST(TensorLayouts, WmmaFragmentSizes) {
    const auto sizes = [](const char* shape, Type type, Type d) {
        const Plan& p = tensor::plans()[static_cast<std::size_t>(
            tensor::find_plan({true, false, shape, type, type, d, d}))];
        return std::vector<std::uint32_t>{p.layout_a.registers, p.layout_b.registers, p.layout_c.registers};
    };
    using V = std::vector<std::uint32_t>;
    EXPECT_EQ(sizes("m16n16k16", Type::f16, Type::f32), (V{8, 8, 8}));
    EXPECT_EQ(sizes("m32n8k16", Type::f16, Type::f16), (V{8, 8, 4}));
    EXPECT_EQ(sizes("m8n32k16", Type::f16, Type::f32), (V{8, 8, 8}));
    EXPECT_EQ(sizes("m16n16k16", Type::bf16, Type::f32), (V{4, 4, 8}));
    EXPECT_EQ(sizes("m8n32k16", Type::bf16, Type::f32), (V{2, 8, 8}));
    EXPECT_EQ(sizes("m32n8k16", Type::bf16, Type::f32), (V{8, 2, 8}));
    EXPECT_EQ(sizes("m16n16k8", Type::tf32, Type::f32), (V{4, 4, 8}));
    EXPECT_EQ(sizes("m16n16k16", Type::s8, Type::s32), (V{2, 2, 8}));
    EXPECT_EQ(sizes("m8n32k16", Type::u8, Type::s32), (V{1, 4, 8}));
    EXPECT_EQ(sizes("m32n8k16", Type::u8, Type::s32), (V{4, 1, 8}));
    EXPECT_EQ(sizes("m8n8k32", Type::s4, Type::s32), (V{1, 1, 2}));
    EXPECT_EQ(sizes("m8n8k128", Type::b1, Type::s32), (V{1, 1, 2}));
    EXPECT_EQ(sizes("m8n8k4", Type::f64, Type::f64), (V{1, 1, 2}));
}

}  // namespace
}  // namespace emulator
