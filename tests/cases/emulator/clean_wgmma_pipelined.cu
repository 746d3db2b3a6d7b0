// buffer: x input f32 8192
// buffer: y output f32 4096
// target: compute_90a
// launch: k grid=1 block=256 args=x,y,i:9
// expect: clean
#include <cuda_fp16.h>
typedef unsigned long long u64;
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ u64 describe(const void* p, u64 leading, u64 stride, u64 layout) {
    return (at(p) >> 4) | leading >> 4 << 16 | stride >> 4 << 32 | layout << 62;
}
__device__ void keep(float& r) { asm volatile("" : "+f"(r)::"memory"); }
__device__ void arrive() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N>
__device__ void wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
__device__ void proxy_fence() { asm volatile("fence.proxy.async;" ::: "memory"); }
template <int A, int B>
__device__ void mma(float (&d)[8], u64 a, u64 b, int scale) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, p, 1, 1, %11, "
        "%12;\n}\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
        : "l"(a), "l"(b), "r"(scale), "n"(A), "n"(B));
}
// Row and column of accumulator i.
__device__ int row_of(int i) { return threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 % 2 * 8; }
__device__ int column_of(int i) { return i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2; }
// Two warpgroups, each with two accumulators in flight and the next pair begun before the last is waited for.
extern "C" __global__ void k(const float* x, float* y, int rounds) {
    __shared__ __align__(128) __half a[2][64 * 16], b[2][16 * 16];
    int t = threadIdx.x, group = t / 128;
    for (int i = t; i < 64 * 16; i += 256) {
        a[0][i / 16 / 8 * 64 + i % 16 / 8 * 512 + i / 16 % 8 * 8 + i % 8] = __float2half(x[i]);
        a[1][i / 16 / 8 * 64 + i % 16 / 8 * 512 + i / 16 % 8 * 8 + i % 8] = __float2half(x[1024 + i]);
    }
    for (int i = t; i < 16 * 16; i += 256) {
        b[0][i / 16 / 8 * 64 + i % 16 / 8 * 128 + i / 16 % 8 * 8 + i % 8] = __float2half(x[2048 + i]);
        b[1][i / 16 / 8 * 64 + i % 16 / 8 * 128 + i / 16 % 8 * 8 + i % 8] = __float2half(x[2304 + i]);
    }
    proxy_fence();
    __syncthreads();
    u64 da = describe(a[group], 1024, 128, 0);
    float d[8], e[8];
    for (int i = 0; i < 8; ++i) d[i] = e[i] = 0;
    for (int r = 0; r < rounds; ++r) {
        for (int i = 0; i < 8; ++i) keep(d[i]), keep(e[i]);
        arrive();
        mma<0, 0>(d, da, describe(b[0], 256, 128, 0), 1);
        mma<0, 0>(d, da, describe(b[1], 256, 128, 0), 1);
        commit();
        mma<0, 0>(e, da, describe(b[1], 256, 128, 0), r > 0);
        commit();
        wait<1>();  // d is ready, e still in flight when the next round begins
        for (int i = 0; i < 8; ++i) keep(d[i]);
        for (int i = 0; i < 8; ++i) d[i] = d[i] * 0.5f;
    }
    wait<0>();
    for (int i = 0; i < 8; ++i) keep(d[i]), keep(e[i]);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        float p[2] = {};
        for (int j = 0; j < 2; ++j)
            for (int k = 0; k < 16; ++k)
                p[j] += x[group * 1024 + row_of(i) * 16 + k] * x[2048 + j * 256 + column_of(i) * 16 + k];
        float first = 0, second = p[1] * rounds;
        for (int r = 0; r < rounds; ++r) first = (first + p[0] + p[1]) * 0.5f;
        if (d[i] != first || e[i] != second) __trap();
        y[(group * 64 + row_of(i)) * 16 + column_of(i)] = d[i];
        y[2048 + (group * 64 + row_of(i)) * 16 + column_of(i)] = e[i];
    }
}
