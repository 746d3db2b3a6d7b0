// Integer and bit expressions, each compiled twice: by the host's compiler and by NVRTC (both code
// generators) for the emulated GPU. The results must agree in every bit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <span>

#include "emulator/emulator.h"
#include "tests/unit/emulator_ptx/nvrtc.h"

namespace emulator {
namespace {

using i8 = signed char;
using i16 = short;
using i32 = int;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;

struct ExpressionRow {
    const char* text;
    i64 (*host)(i64 x, i64 y);
};
#define ROW(expression)                                                              \
    {                                                                                \
#expression, [](i64 x, i64 y) -> i64 { (void)x; (void)y; return (i64)(expression); } \
    }

const ExpressionRow rows[] = {
    ROW((u64)x + (u64)y),
    ROW((u64)x - (u64)y),
    ROW((u64)x*(u64)y),
    ROW((u64)x / ((u64)y | 1)),
    ROW((u64)x % ((u64)y | 1)),
    ROW((x >> 1) / (y | 1)),
    ROW((x >> 1) % (y | 1)),
    ROW((u32)x / ((u32)y | 1)),
    ROW((u32)x % ((u32)y | 1)),
    ROW(((i32)x >> 1) / ((i32)y | 1)),
    ROW(((i32)x >> 1) % ((i32)y | 1)),
    ROW((i32)x / 7),
    ROW((i32)x % 7),
    ROW((u32)x / 10u),
    ROW((u32)x % 1000u),
    ROW((u32)x / 641u),
    ROW((i32)x / 8),
    ROW((i32)x % 8),
    ROW(x / 10),
    ROW(x % 10),
    ROW((u64)x / 1000000007ull),
    ROW((u32)x*(u32)y + 17u),
    ROW((i64)(i32)x*(i32)y),
    ROW((u64)(u32)x*(u32)y + (u64)y),
    ROW((u64)(u32)x << (y & 31)),
    ROW((u64)x << (y & 63)),
    ROW((u64)x >> (y & 63)),
    ROW(x >> (y & 63)),
    ROW((i32)x >> (y & 31)),
    ROW((u32)x >> (y & 31)),
    ROW((x & y) | (~x & 0x0f0f0f0f0f0f0f0fll)),
    ROW((u32)x ^ ((u32)y & 0xff00ff00u) ^ ((u32)x >> 7)),
    ROW((i8)x + (u8)y),
    ROW((i16)x*(i16)y),
    ROW((u16)((u16)x + (u16)y)),
    ROW((u8)((u8)x * 3)),
    ROW((i16)(x >> 3) < (i16)y ? (i16)x : (u16)y),
    ROW(x < y ? x : y),
    ROW((u64)x > (u64)y ? 1 : -1),
    ROW((i32)x <= (i32)y),
    ROW(((u32)x > (u32)y) + 2 * ((i32)x > (i32)y) + 4 * (x == y)),
    ROW((u32)((x & 15) * (y & 255) + (x & 7)) << 3),
    ROW((((u64)x >> 32) | ((u64)x << 32)) + (u64)y),
    ROW(((u32)x << 13) | ((u32)x >> 19)),
    ROW((u32)x & 0x80000000u ? ~(u32)y : (u32)y + 1),
    ROW((x & 1) && (y & 2)   ? 5
        : (x & 4) || (y & 8) ? 6
                             : 7),
    ROW((i64)(double)(i32)x + (i64)(float)(i16)y),
    ROW((u64)(double)(u32)x + (u32)(float)(u16)y),
    ROW((i32)((float)(i32)(x & 0xffffff) * 0.5f) - (i32)((double)(i32)y * 0.25)),
    ROW((i64)((double)(x >> 12) * 2.0)),
};

TEST(CudaInteger, ExpressionsAgreeWithTheHost) {
    std::string source =
        "typedef signed char i8; typedef short i16; typedef int i32; typedef unsigned char u8; typedef "
        "unsigned short u16;\n"
        "typedef unsigned int u32; typedef long long i64; typedef unsigned long long u64;\n";
    int number = 0;
    for (const ExpressionRow& row : rows) {
        source += fmt::format(
            "extern \"C\" __global__ void k{}(const i64* a, const i64* b, i64* c) {{ i64 x = a[threadIdx.x], "
            "y = b[threadIdx.x]; c[threadIdx.x] = (i64)({}); }}\n",
            number++, row.text);
    }
    constexpr int count = 512;
    std::vector<i64> x(count), y(count), got(count);
    std::mt19937_64 random(23);
    const i64 edges[] = {
        0, 1,   -1,   2, -2, INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, 0xffffffffll, 0x80000000ll,
        7, 255, 65536};
    for (int i = 0; i < count; ++i) {
        x[i] = i < 196 ? edges[i / 14] : static_cast<i64>(random() >> (random() % 50));
        y[i] = i < 196 ? edges[i % 14] : static_cast<i64>(random() >> (random() % 60));
        if (i >= 196 && i % 3 == 0) x[i] = -x[i];
    }
    for (const char* target : {"80", "120"}) {
        const auto compiled = test::compile_cuda(source, target);
        if (!compiled.available) GTEST_SKIP() << "no NVRTC found: set CUDA_HOME to a toolkit";
        ASSERT_FALSE(compiled.ptx.empty()) << compiled.log;
        auto loaded = Module::load(compiled.ptx);
        if (const auto* error = std::get_if<LoadError>(&loaded))
            FAIL() << error->message << " [" << error->instruction << "]";
        number = 0;
        for (const ExpressionRow& row : rows) {
            SCOPED_TRACE(fmt::format("{} for sm_{}", row.text, target));
            Memory memory;
            Launch launch;
            launch.kernel = fmt::format("k{}", number++);
            launch.block.x = count;
            std::uint64_t addresses[3];
            for (int b = 0; b < 3; ++b) {
                addresses[b] =
                    memory.allocate("b", count * 8, b == 2 ? BufferKind::output : BufferKind::input);
                if (b < 2) memory.write(addresses[b], std::as_bytes(std::span(b == 0 ? x : y)));
                const auto* bytes = reinterpret_cast<const std::byte*>(&addresses[b]);
                launch.arguments.insert(launch.arguments.end(), bytes, bytes + 8);
            }
            const Outcome outcome = run(std::get<Module>(loaded), memory, launch, Options{});
            ASSERT_TRUE(outcome.clean()) << (outcome.faults.empty() ? "" : outcome.faults[0].message);
            const auto data = memory.read(addresses[2], count * 8);
            std::memcpy(got.data(), data.data(), data.size());
            for (int i = 0; i < count; ++i)
                ASSERT_EQ(got[i], row.host(x[i], y[i])) << "x = " << x[i] << ", y = " << y[i];
        }
    }
}

}  // namespace
}  // namespace emulator
