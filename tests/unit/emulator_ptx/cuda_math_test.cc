// CUDA's mathematical functions compiled by NVRTC, by both of its code generators, against the host's in
// extended precision. The bounds are those of the CUDA C++ Programming Guide, "Mathematical Functions", in
// units of the last place; a wrong instruction anywhere in the long sequences shows at once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "emulator/emulator.h"
#include "tests/unit/emulator_ptx/nvrtc.h"

namespace emulator {
namespace {

struct FunctionRow {
    const char* expression;  // of x and y
    long double (*host)(long double, long double);
    double low, high;  // of x; y is drawn from [0.25, 4]
    double ulps;
};

using L = long double;
const FunctionRow single_rows[] = {
    {"sinf(x)", [](L x, L) { return std::sin(x); }, -50, 50, 2},
    {"sinf(x * 1e6f)", [](L x, L) { return std::sin(L(float(x) * 1e6f)); }, -50, 50,
     2},  // the slow reduction
    {"cosf(x)", [](L x, L) { return std::cos(x); }, -50, 50, 2},
    {"tanf(x)", [](L x, L) { return std::tan(x); }, -50, 50, 4},
    {"expf(x)", [](L x, L) { return std::exp(x); }, -80, 80, 2},
    {"exp2f(x)", [](L x, L) { return std::exp2(x); }, -120, 120, 2},
    {"expm1f(x)", [](L x, L) { return std::expm1(x); }, -5, 5, 1},
    {"logf(x)", [](L x, L) { return std::log(x); }, 1e-6, 100, 1},
    {"log2f(x)", [](L x, L) { return std::log2(x); }, 1e-6, 100, 1},
    {"log10f(x)", [](L x, L) { return std::log10(x); }, 1e-6, 100, 2},
    {"log1pf(x)", [](L x, L) { return std::log1p(x); }, -0.9, 100, 1},
    {"powf(x, y)", [](L x, L y) { return std::pow(x, y); }, 1e-3, 100, 8},
    {"tanhf(x)", [](L x, L) { return std::tanh(x); }, -6, 6, 2},
    {"sinhf(x)", [](L x, L) { return std::sinh(x); }, -20, 20, 3},
    {"coshf(x)", [](L x, L) { return std::cosh(x); }, -20, 20, 2},
    {"asinf(x)", [](L x, L) { return std::asin(x); }, -1, 1, 4},
    {"acosf(x)", [](L x, L) { return std::acos(x); }, -1, 1, 2},
    {"atanf(x)", [](L x, L) { return std::atan(x); }, -30, 30, 2},
    {"atan2f(x, y)", [](L x, L y) { return std::atan2(x, y); }, -30, 30, 3},
    {"erff(x)", [](L x, L) { return std::erf(x); }, -4, 4, 2},
    {"erfcf(x)", [](L x, L) { return std::erfc(x); }, -4, 8, 4},
    {"lgammaf(x)", [](L x, L) { return std::lgamma(x); }, 3, 60, 6},
    {"tgammaf(x)", [](L x, L) { return std::tgamma(x); }, 0.5, 30, 8},
    {"cbrtf(x)", [](L x, L) { return std::cbrt(x); }, -100, 100, 1},
    {"hypotf(x, y)", [](L x, L y) { return std::hypot(x, y); }, -100, 100, 3},
    {"fmodf(x, y)", [](L x, L y) { return std::fmod(x, y); }, -1000, 1000, 0},
    {"sqrtf(fabsf(x))", [](L x, L) { return std::sqrt(std::fabs(x)); }, -100, 100, 0.5},
    {"rsqrtf(x)", [](L x, L) { return 1 / std::sqrt(x); }, 1e-6, 100, 2},
    {"x / y", [](L x, L y) { return x / y; }, -100, 100, 0.5},
    {"__fdividef(x, y)", [](L x, L y) { return x / y; }, -100, 100, 2},
    {"__fsqrt_rz(x) * 0.0f + floorf(x)", [](L x, L) { return std::floor(x); }, 0, 100, 0},
    {"rintf(x)", [](L x, L) { return std::rint(x); }, -100, 100, 0},
    {"(float)(int)x + (float)(long long)(x * 3.0f)",
     [](L x, L) { return std::trunc(x) + std::trunc(L(float(x) * 3.0f)); }, -100, 100, 0},
    {"ldexpf(x, 7)", [](L x, L) { return x * 128; }, -100, 100, 0},
};
const FunctionRow double_rows[] = {
    {"sin(x)", [](L x, L) { return std::sin(x); }, -50, 50, 2},
    {"sin(x * 1e9)", [](L x, L) { return std::sin(L(double(x) * 1e9)); }, -50, 50, 2},
    {"cos(x)", [](L x, L) { return std::cos(x); }, -50, 50, 2},
    {"exp(x)", [](L x, L) { return std::exp(x); }, -300, 300, 1},
    {"log(x)", [](L x, L) { return std::log(x); }, 1e-6, 100, 1},
    {"pow(x, y)", [](L x, L y) { return std::pow(x, y); }, 1e-3, 100, 2},
    {"tanh(x)", [](L x, L) { return std::tanh(x); }, -6, 6, 2},
    {"erf(x)", [](L x, L) { return std::erf(x); }, -4, 4, 2},
    {"atan2(x, y)", [](L x, L y) { return std::atan2(x, y); }, -30, 30, 2},
    {"cbrt(x)", [](L x, L) { return std::cbrt(x); }, -100, 100, 1},
    {"fmod(x, y)", [](L x, L y) { return std::fmod(x, y); }, -1000, 1000, 0},
    {"sqrt(fabs(x))", [](L x, L) { return std::sqrt(std::fabs(x)); }, -100, 100, 0.5},
    {"rsqrt(x)", [](L x, L) { return 1 / std::sqrt(x); }, 1e-6, 100, 1},
    {"rsqrt(x * 1e-320)", [](L x, L) { return 1 / std::sqrt(L(double(x) * 1e-320)); }, 1, 100, 1},
    {"x / y", [](L x, L y) { return x / y; }, -100, 100, 0.5},
    {"tgamma(x)", [](L x, L) { return std::tgamma(x); }, 0.5, 30, 10},
};

constexpr int kValues = 256;

template <class T, std::size_t N>
void check(const FunctionRow (&rows)[N], const char* type, const std::string& target) {
    std::string source = "#include <cuda_runtime.h>\n";
    for (std::size_t i = 0; i < N; ++i) {
        source += fmt::format(
            "extern \"C\" __global__ void k{}(const {}* a, const {}* b, {}* c) {{ {} x = a[threadIdx.x], "
            "y = b[threadIdx.x]; c[threadIdx.x] = {}; }}\n",
            i, type, type, type, type, rows[i].expression);
    }
    const auto compiled = test::compile_cuda(source, target);
    if (!compiled.available) GTEST_SKIP() << "no NVRTC found: set CUDA_HOME to a toolkit";
    ASSERT_FALSE(compiled.ptx.empty()) << compiled.log;
    auto loaded = Module::load(compiled.ptx);
    if (const auto* error = std::get_if<LoadError>(&loaded)) {
        FAIL() << error->ptx_line << ": " << error->message << " [" << error->instruction << "]";
    }
    const Module& module = std::get<Module>(loaded);
    std::mt19937_64 random(17);
    for (std::size_t i = 0; i < N; ++i) {
        const FunctionRow& row = rows[i];
        SCOPED_TRACE(fmt::format("{} of {} for sm_{}", row.expression, type, target));
        std::vector<T> x(kValues), y(kValues), got(kValues);
        std::uniform_real_distribution<double> draw_x(row.low, row.high), draw_y(0.25, 4);
        for (int v = 0; v < kValues; ++v) {
            x[v] = static_cast<T>(draw_x(random));
            y[v] = static_cast<T>(draw_y(random));
        }
        Memory memory;
        Launch launch;
        launch.kernel = fmt::format("k{}", i);
        launch.block.x = kValues;
        std::uint64_t addresses[3];
        for (int b = 0; b < 3; ++b) {
            addresses[b] =
                memory.allocate("b", kValues * sizeof(T), b == 2 ? BufferKind::output : BufferKind::input);
            if (b < 2) memory.write(addresses[b], std::as_bytes(std::span(b == 0 ? x : y)));
            const auto* bytes = reinterpret_cast<const std::byte*>(&addresses[b]);
            launch.arguments.insert(launch.arguments.end(), bytes, bytes + 8);
        }
        const Outcome outcome = run(module, memory, launch, Options{});
        ASSERT_TRUE(outcome.clean()) << (outcome.faults.empty() ? outcome.refused->message
                                                                : outcome.faults[0].message);
        const auto data = memory.read(addresses[2], kValues * sizeof(T));
        std::memcpy(got.data(), data.data(), data.size());
        double worst = 0;
        int at = 0;
        for (int v = 0; v < kValues; ++v) {
            const L exact = row.host(x[v], y[v]);
            const int least = sizeof(T) == 4 ? -126 : -1022, mantissa = sizeof(T) == 4 ? 23 : 52;
            const int exponent = exact == 0 ? least : std::max(std::ilogb(exact), least);
            const double error =
                static_cast<double>(std::fabs(L(got[v]) - exact) / std::ldexp(1.0L, exponent - mantissa));
            if (!(error <= worst)) {
                worst = error;
                at = v;
            }
        }
        EXPECT_LE(worst, row.ulps) << "x = " << x[at] << ", y = " << y[at] << ", got " << got[at];
    }
}

class CudaMath : public testing::TestWithParam<const char*> {};
TEST_P(CudaMath, Single) { check<float>(single_rows, "float", GetParam()); }
TEST_P(CudaMath, Double) { check<double>(double_rows, "double", GetParam()); }
INSTANTIATE_TEST_SUITE_P(Targets, CudaMath, testing::Values("80", "120"),
                         [](const auto& info) { return std::string("sm_") + info.param; });

}  // namespace
}  // namespace emulator
