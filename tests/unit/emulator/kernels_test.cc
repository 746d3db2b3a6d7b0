// Ordinary kernels end to end: compiled by NVRTC, executed, compared with the host.
#include <cmath>

#include "tests/unit/emulator/machine.h"

namespace emulator::test {
namespace {

std::vector<float> ramp(std::size_t n) {
    std::vector<float> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<float>((i * 37) % 101) * 0.1f - 5.0f;
    return v;
}

TEST(Kernels, VectorAdd) {
    NEED_TOOLKIT();
    Machine m;
    ASSERT_TRUE(
        m.load_cuda(R"(extern "C" __global__ void vadd(const float* a, const float* b, float* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = a[i] + b[i];
    })"))
        << m.error;
    const std::size_t n = 1000;
    const auto a = ramp(n), b = ramp(n);
    const auto pa = m.input("a", a), pb = m.input("b", b), py = m.output<float>("y", n);
    const Outcome o = m.run("vadd", {4}, {256}, 0, pa, pb, py, static_cast<int>(n));
    EXPECT_TRUE(o.clean()) << describe(o);
    const auto y = m.read<float>(py, n);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(y[i], a[i] + b[i]) << i;
    for (const bool written : m.memory.initialised(py)) ASSERT_TRUE(written);
    EXPECT_EQ(o.counters.blocks_launched, 4u);
    EXPECT_EQ(o.counters.warps_launched, 32u);
    EXPECT_EQ(o.counters.global_load_requests, 64u);
    // 1000 floats are 125 sectors when the buffer is aligned to 256 bytes
    EXPECT_EQ(o.counters.global_load_sectors, 250u);
    EXPECT_EQ(o.counters.ideal_global_load_sectors, 250u);
    EXPECT_EQ(o.counters.unique_load_sectors, 250u);
    EXPECT_EQ(o.counters.global_store_sectors, 125u);
    EXPECT_EQ(o.counters.thread_fadd, 1000u);
}

TEST(Kernels, MatmulTiled) {
    NEED_TOOLKIT();
    Machine m;
    ASSERT_TRUE(m.load_cuda(R"(
#define T 16
extern "C" __global__ void mm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int M, int N, int K) {
    __shared__ float As[T][T];
    __shared__ float Bs[T][T + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0.f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = (row < M && k0 + tx < K) ? a[(size_t)row * K + k0 + tx] : 0.f;
        Bs[ty][tx] = (k0 + ty < K && col < N) ? b[(size_t)(k0 + ty) * N + col] : 0.f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < T; ++k) acc = fmaf(As[ty][k], Bs[k][tx], acc);
        __syncthreads();
    }
    if (row < M && col < N) c[(size_t)row * N + col] = acc;
})")) << m.error;
    const int M = 37, N = 50, K = 45;
    const auto a = ramp(static_cast<std::size_t>(M * K)), b = ramp(static_cast<std::size_t>(K * N));
    const auto pa = m.input("a", a), pb = m.input("b", b),
               pc = m.output<float>("c", static_cast<std::size_t>(M * N));
    const Outcome o = m.run("mm", {4, 3}, {16, 16}, 0, pa, pb, pc, M, N, K);
    EXPECT_TRUE(o.clean()) << describe(o);
    const auto c = m.read<float>(pc, static_cast<std::size_t>(M * N));
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) {
            float acc = 0;
            for (int k = 0; k < K; ++k)
                acc = std::fmaf(a[static_cast<std::size_t>(i * K + k)],
                                b[static_cast<std::size_t>(k * N + j)], acc);
            ASSERT_EQ(c[static_cast<std::size_t>(i * N + j)], acc) << i << "," << j;
        }
}

TEST(Kernels, SoftmaxWithShufflesAndTree) {
    NEED_TOOLKIT();
    Machine m;
    ASSERT_TRUE(m.load_cuda(R"(
extern "C" __global__ void warp_row(const float* x, float* y, int M, int N) {
    int r = blockIdx.x * blockDim.y + threadIdx.y;
    if (r >= M) return;
    const float* row = x + (size_t)r * N;
    float m = __int_as_float(0xff800000);
    for (int c = threadIdx.x; c < N; c += 32) m = fmaxf(m, row[c]);
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));
    float s = 0.f;
    for (int c = threadIdx.x; c < N; c += 32) s += expf(row[c] - m);
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
    float inv = __fdividef(1.0f, s);
    for (int c = threadIdx.x; c < N; c += 32) y[(size_t)r * N + c] = expf(row[c] - m) * inv;
}
extern "C" __global__ void block_row(const float* __restrict__ x, float* __restrict__ y, int N) {
    __shared__ float red[128];
    const int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * N;
    float m = __int_as_float(0xff800000);
    for (int c = t; c < N; c += 128) m = fmaxf(m, row[c]);
    red[t] = m;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) { if (t < s) red[t] = fmaxf(red[t], red[t + s]); __syncthreads(); }
    m = red[0];
    __syncthreads();
    float sum = 0.0f;
    for (int c = t; c < N; c += 128) sum += expf(row[c] - m);
    red[t] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) { if (t < s) red[t] += red[t + s]; __syncthreads(); }
    float inv = 1.0f / red[0];
    for (int c = t; c < N; c += 128) y[(size_t)blockIdx.x * N + c] = expf(row[c] - m) * inv;
})")) << m.error;
    const int M = 7, N = 77;
    const auto x = ramp(static_cast<std::size_t>(M * N));
    const auto px = m.input("x", x);
    for (const std::uint64_t seed : {0, 1, 2}) {
        m.options.schedule_seed = seed;
        for (int which = 0; which < 2; ++which) {
            const auto py = m.output<float>("y", static_cast<std::size_t>(M * N));
            const Outcome o = which == 0 ? m.run("warp_row", {2}, {32, 4}, 0, px, py, M, N)
                                         : m.run("block_row", {7}, {128}, 0, px, py, N);
            EXPECT_TRUE(o.clean()) << describe(o);
            const auto y = m.read<float>(py, static_cast<std::size_t>(M * N));
            for (int r = 0; r < M; ++r) {
                double top = -1e30, sum = 0;
                for (int c = 0; c < N; ++c)
                    top = std::max(top, static_cast<double>(x[static_cast<std::size_t>(r * N + c)]));
                for (int c = 0; c < N; ++c) sum += std::exp(x[static_cast<std::size_t>(r * N + c)] - top);
                for (int c = 0; c < N; ++c) {
                    const std::size_t i = static_cast<std::size_t>(r * N + c);
                    ASSERT_NEAR(y[i], std::exp(x[i] - top) / sum, 1e-6) << r << "," << c;
                }
            }
        }
    }
}

TEST(Kernels, CallsRecursionPointersPrintfHeap) {
    NEED_TOOLKIT();
    Machine m;
    ASSERT_TRUE(m.load_cuda(R"(
extern "C" __device__ int printf(const char*, ...);
struct S { float a[5]; int n; };
__constant__ float c_w[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__device__ __noinline__ float foo(S s, int k) { return s.a[k] * c_w[k & 7]; }
typedef float (*FP)(float);
__device__ float fa(float x) { return x + 1; }
__device__ float fb(float x) { return x * 2; }
__device__ FP table[2] = {fa, fb};
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void k(float* y, int n, S s) {
    int i = threadIdx.x;
    y[i] = foo(s, i % 5) + table[i & 1](2.f) + fib(i % 7);
    if (i < 2) printf("hi %d %5.2f %s %lld%%\n", i, (double)y[i], "abc", 12345678901ll);
    int* p = new int[4];
    p[i & 3] = i;
    y[i] += p[i & 3];
    delete[] p;
})")) << m.error;
    struct S {
        float a[5];
        int n;
    } s = {{1, 2, 3, 4, 5}, 0};
    const auto py = m.output<float>("y", 40);
    const Outcome o = m.run("k", {1}, {40}, 0, py, 40, s);
    EXPECT_TRUE(o.clean()) << describe(o);
    const int fib[] = {0, 1, 1, 2, 3, 5, 8};
    const auto y = m.read<float>(py, 40);
    for (int i = 0; i < 40; ++i)
        ASSERT_EQ(y[static_cast<std::size_t>(i)], s.a[i % 5] * (static_cast<float>(i % 5) + 1) +
                                                      ((i & 1) ? 4.f : 3.f) + static_cast<float>(fib[i % 7]) +
                                                      static_cast<float>(i))
            << i;
    EXPECT_EQ(o.printed, "hi 0  4.00 abc 12345678901%\nhi 1  9.00 abc 12345678901%\n");
}

// printf ends the launch where it exceeds its limit, and keeps what was printed before.
TEST(Kernels, PrintfFlood) {
    NEED_TOOLKIT();
    Machine m;
    ASSERT_TRUE(m.load_cuda(R"(extern "C" __device__ int printf(const char*, ...);
    extern "C" __global__ void k() { for (;;) printf("line %d\n", threadIdx.x); })"))
        << m.error;
    m.options.max_printf_bytes = 1000;
    const Outcome o = m.run("k", {1}, {32}, 0);
    ASSERT_EQ(o.faults.size(), 1u) << describe(o);
    EXPECT_EQ(o.faults[0].rule, "printf-limit");
    EXPECT_LE(o.printed.size(), 1000u);
    EXPECT_GT(o.printed.size(), 900u);
}

TEST(Kernels, SameOutcomeTwice) {
    NEED_TOOLKIT();
    Machine m;
    ASSERT_TRUE(m.load_cuda(R"(extern "C" __global__ void hist(const int* x, int* y, int n) {
        extern __shared__ int bins[];
        for (int b = threadIdx.x; b < 16; b += blockDim.x) bins[b] = 0;
        __syncthreads();
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[x[i]], 1);
        __syncthreads();
        for (int b = threadIdx.x; b < 16; b += blockDim.x) atomicAdd(&y[b], bins[b]);
    })"))
        << m.error;
    std::vector<int> x(5000);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>(i * i % 16);
    const auto px = m.input("x", x);
    const auto py = m.input("y", std::vector<int>(16, 0), BufferKind::inout);
    const Outcome first = m.run("hist", {8}, {128}, 64, px, py, 5000);
    EXPECT_TRUE(first.clean()) << describe(first);
    std::vector<int> expected(16, 0);
    for (const int v : x) expected[static_cast<std::size_t>(v)] += 1;
    EXPECT_EQ(m.read<int>(py, 16), expected);
    const Outcome second = m.run("hist", {8}, {128}, 64, px, py, 5000);
    EXPECT_TRUE(first.counters == second.counters);
    m.options.schedule_seed = 5;
    const Outcome third = m.run("hist", {8}, {128}, 64, px, py, 5000);
    EXPECT_TRUE(third.clean()) << describe(third);
    EXPECT_EQ(third.counters.thread_instructions, first.counters.thread_instructions);
}

}  // namespace
}  // namespace emulator::test
