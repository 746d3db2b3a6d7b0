// Options::approximation: every result lies within the bound that PTX documents, lower and upper at its ends,
// special values stay. Expected values come from the host's double-precision functions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "tests/unit/emulator_ptx/matrices.h"

namespace emulator {
namespace {

using namespace test;
using enum Options::Approximation;

constexpr Options::Approximation kAll[] = {nominal, strictest, lower, upper, seeded};

std::vector<float> run_unary(const std::string& op, const std::vector<float>& x, Options::Approximation how,
                             std::uint64_t seed = 0) {
    const bool half = op.find("16") != std::string::npos;
    const bool binary = op.starts_with("div");
    std::string text = fmt::format(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 pa, .param .u64 "
        "pd)\n{{\n.reg .f32 "
        "a, b, d;\n.reg .b16 h, g;\n.reg .b32 t;\n.reg .b64 p, o;\nmov.u32 t, %tid.x;\nmul.wide.u32 o, t, "
        "4;\n"
        "ld.param.u64 p, [pa];\nadd.u64 p, p, o;\nld.global.f32 a, [p];\n");
    const std::string type = op.ends_with("bf16") ? "bf16" : "f16";
    if (half) {
        text += fmt::format("cvt.rn.{0}.f32 h, a;\n{1} g, h;\ncvt.f32.{0} d, g;\n", type, op);
    } else {
        text += fmt::format("mov.f32 b, 0f40490fdb;\n{} d, a{};\n", op, binary ? ", b" : "");
    }
    text += "ld.param.u64 p, [pd];\nadd.u64 p, p, o;\nst.global.f32 [p], d;\nret;\n}\n";
    std::vector<std::byte> bytes(x.size() * 4);
    std::memcpy(bytes.data(), x.data(), bytes.size());
    Options options;
    options.approximation = how;
    options.schedule_seed = seed;
    const Executed r = run_ptx(text, {bytes}, bytes.size(), static_cast<std::uint32_t>(x.size()), options);
    EXPECT_EQ(r.error, "") << op;
    std::vector<float> out(x.size());
    std::memcpy(out.data(), r.output.data(), bytes.size());
    return out;
}

double ulp(double y) { return std::ldexp(1.0, std::max(std::ilogb(y), -126) - 23); }

struct Function {
    const char* op;
    std::function<double(double)> exact;
    std::function<double(double, double)> bound;
    float low, high;
};

const std::vector<Function>& functions() {
    constexpr double pi_bits = 3.1415927410125732;  // 0f40490fdb
    static const std::vector<Function> all = {
        {"ex2.approx.f32", [](double x) { return std::exp2(x); }, [](double, double y) { return 2 * ulp(y); },
         -20, 20},
        {"lg2.approx.f32", [](double x) { return std::log2(x); },
         [](double x, double y) { return x > 0.5 && x < 2 ? 0x1p-22 : std::fabs(y) * 0x1p-22; }, 0.01f, 8},
        {"sin.approx.f32", [](double x) { return std::sin(x); },
         [](double, double) { return std::exp2(-20.5); }, -6, 6},
        {"cos.approx.f32", [](double x) { return std::cos(x); },
         [](double, double) { return std::exp2(-20.5); }, -6, 6},
        {"rcp.approx.f32", [](double x) { return 1 / x; }, [](double, double y) { return ulp(y); }, 0.1f, 9},
        {"sqrt.approx.f32", [](double x) { return std::sqrt(x); },
         [](double, double y) { return y * 0x1p-23; }, 0.1f, 9},
        {"rsqrt.approx.f32", [](double x) { return 1 / std::sqrt(x); },
         [](double, double y) { return y * std::exp2(-22.9); }, 0.1f, 9},
        {"div.approx.f32", [=](double x) { return x / pi_bits; }, [](double, double y) { return 2 * ulp(y); },
         -9, 9},
        {"div.full.f32", [=](double x) { return x / pi_bits; }, [](double, double y) { return 2 * ulp(y); },
         -9, 9},
        {"tanh.approx.f32", [](double x) { return std::tanh(x); },
         [](double, double y) { return std::fabs(y) * 0x1p-11; }, -4, 4},
    };
    return all;
}

std::vector<float> spread(float low, float high) {
    std::vector<float> x;
    for (int i = 0; i < 256; ++i) x.push_back(low + (high - low) * (static_cast<float>(i) + 0.37f) / 256.0f);
    return x;
}

TEST(Approximation, StaysWithinTheDocumentedBound) {
    for (const Function& f : functions()) {
        SCOPED_TRACE(f.op);
        const std::vector<float> x = spread(f.low, f.high);
        std::map<Options::Approximation, std::vector<float>> got;
        for (const auto how : kAll) got[how] = run_unary(f.op, x, how, 5);
        int apart = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double y = f.exact(x[i]), bound = f.bound(x[i], y);
            for (const auto how : kAll) {
                if (how == strictest) {
                    EXPECT_NEAR(got[how][i], y, ulp(y) * 0.501) << x[i];
                } else {
                    EXPECT_NEAR(got[how][i], y, bound * (1 + 1e-9)) << x[i] << " " << static_cast<int>(how);
                }
            }
            EXPECT_LE(got[lower][i], got[strictest][i]);
            EXPECT_GE(got[upper][i], got[strictest][i]);
            apart += got[lower][i] < got[upper][i];
            // At the ends: one value further is beyond the bound.
            const float infinity = std::numeric_limits<float>::infinity();
            if (std::string_view(f.op) != "tanh.approx.f32") {
                EXPECT_LT(std::nextafter(got[lower][i], -infinity), y - bound * (1 - 1e-9)) << x[i];
                EXPECT_GT(std::nextafter(got[upper][i], infinity), y + bound * (1 - 1e-9)) << x[i];
            }
        }
        EXPECT_GT(apart, 250);
        EXPECT_NE(run_unary(f.op, x, seeded, 6), got[seeded]);
        EXPECT_EQ(run_unary(f.op, x, seeded, 5), got[seeded]);
    }
}

TEST(Approximation, HalfPrecision) {
    for (const auto& [op, exact, relative, absolute] :
         {std::tuple<const char*, double (*)(double), double, double>{
              "ex2.approx.f16", [](double x) { return std::exp2(x); }, std::exp2(-9.9), 0},
          {"ex2.approx.ftz.bf16", [](double x) { return std::exp2(x); }, 0x1p-7, 0},
          {"tanh.approx.f16", [](double x) { return std::tanh(x); }, 0, std::exp2(-10.987)},
          {"tanh.approx.bf16", [](double x) { return std::tanh(x); }, 0, 0x1p-8}}) {
        SCOPED_TRACE(op);
        std::vector<float> x;
        for (int i = -64; i < 64; ++i) x.push_back(static_cast<float>(i) * 0.0625f);  // exact in both formats
        for (const auto how : {lower, upper, seeded}) {
            const std::vector<float> got = run_unary(op, x, how, 3);
            for (std::size_t i = 0; i < x.size(); ++i) {
                const double y = exact(x[i]);
                EXPECT_NEAR(got[i], y, relative * y + absolute) << x[i];
                if (absolute > 0) {
                    EXPECT_LE(std::fabs(got[i]), 1.0);
                }
            }
        }
    }
}

TEST(Approximation, SpecialValuesStay) {
    const float infinity = std::numeric_limits<float>::infinity(),
                nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> x = {0.0f, -0.0f, infinity, -infinity, nan, 1e-42f, -1.0f, 3e38f, -3e38f};
    for (const Function& f : functions()) {
        SCOPED_TRACE(f.op);
        const std::vector<float> plain = run_unary(f.op, x, strictest);
        for (const auto how : {lower, upper, seeded}) {
            const std::vector<float> got = run_unary(f.op, x, how, 9);
            for (std::size_t i = 0; i < x.size(); ++i) {
                const bool special = std::isnan(plain[i]) || std::isinf(plain[i]) || plain[i] == 0;
                if (special || (i < 6 && !std::string_view(f.op).starts_with("div"))) {
                    EXPECT_EQ(std::bit_cast<std::uint32_t>(got[i]), std::bit_cast<std::uint32_t>(plain[i]))
                        << x[i];
                }
            }
        }
    }
}

// ---- sums of tensor cores ------------------------------------------------------------------------------

std::vector<float> run_mma(const std::vector<float>& values, Options::Approximation how, std::uint64_t seed) {
    // A and B of m16n8k16 hold the same f16 values in every row and column: D is one dot product 128 times
    // over.
    std::string text =
        ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 pa, .param .u64 "
        "pd)\n{\n.reg .f32 "
        "d<4>, c, z;\n.reg .b32 a<4>, b<2>, t, l;\n.reg .b64 p, o;\nmov.u32 t, %tid.x;\nand.b32 l, t, 3;\n"
        "mul.wide.u32 o, l, 4;\nld.param.u64 p, [pa];\nld.global.f32 c, [p+64];\nadd.u64 p, p, "
        "o;\nld.global.b32 a0, [p];\n"
        "ld.global.b32 a2, [p+16];\nld.global.b32 b0, [p+32];\nld.global.b32 b1, [p+48];\n"
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a0, a2, a2}, {b0, b1}, {c, "
        "c, c, c};\n"
        "mul.wide.u32 o, t, 16;\nld.param.u64 p, [pd];\nadd.u64 p, p, o;\nst.global.v4.f32 [p], {d0, d1, d2, "
        "d3};\nret;\n}\n";
    std::vector<std::byte> bytes(68);
    for (std::size_t i = 0; i < 32; ++i) put_bits(bytes, i * 16, 16, encode(Type::f16, values[i]));
    std::memcpy(bytes.data() + 64, &values[32], 4);
    Options options;
    options.approximation = how;
    options.schedule_seed = seed;
    const Executed r = run_ptx(text, {bytes}, 512, 32, options);
    EXPECT_EQ(r.error, "");
    std::vector<float> out(128);
    std::memcpy(out.data(), r.output.data(), 512);
    return out;
}

TEST(Approximation, SumsOfTensorCores) {
    std::mt19937 random(2);
    int moved = 0, by_seed = 0;
    for (int trial = 0; trial < 50; ++trial) {
        std::vector<float> v(33);
        for (float& x : v) {
            x = decode(Type::f16,
                       encode(Type::f16, (static_cast<int>(random() % 2001) - 1000) *
                                             std::ldexp(1.0, static_cast<int>(random() % 8) - 10)));
        }
        double exact = v[32], size = std::fabs(v[32]);
        for (int p = 0; p < 16; ++p) {
            exact += static_cast<double>(v[p]) * v[16 + p];
            size += std::fabs(static_cast<double>(v[p]) * v[16 + p]);
        }
        const std::vector<float> best = run_mma(v, strictest, 0), low = run_mma(v, lower, 0),
                                 high = run_mma(v, upper, 0);
        EXPECT_EQ(best, std::vector<float>(128, static_cast<float>(exact)));
        for (const auto& got : {low, high, run_mma(v, seeded, 1), run_mma(v, nominal, 0)}) {
            for (const float d : got) EXPECT_NEAR(d, exact, 17 * size * 0x1p-23);
        }
        EXPECT_LE(low[0], best[0]);
        EXPECT_GE(high[0], best[0]);
        moved += low[0] < high[0];
        by_seed += run_mma(v, seeded, 1) != run_mma(v, seeded, 2);
    }
    EXPECT_GT(moved, 30);
    EXPECT_GT(by_seed, 10);
}

}  // namespace
}  // namespace emulator
