// buffer: x input f32 4096
// buffer: y output f32 1024
// target: compute_90a
// launch: k grid=1 block=128 args=x,y,i:6
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
__device__ void mma(float (&d)[8], const unsigned (&a)[4], u64 b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9,%10,%11}, %12, "
        "1, 1, 1, 1;\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
// Row and column of accumulator i.
__device__ int row_of(int i) { return threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 % 2 * 8; }
__device__ int column_of(int i) { return i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2; }
// S = Q K, P = f(S) kept in registers, O = O / 2 + P V: as flash attention does, without fences around
// registers.
extern "C" __global__ void k(const float* x, float* y, int rounds) {
    __shared__ __align__(128) __half q[64 * 16], key[16 * 16], v[16 * 16];
    int t = threadIdx.x;
    // No swizzle: blocks of eight rows by sixteen bytes; V lies across k.
    for (int i = t; i < 64 * 16; i += 128)
        q[i / 16 / 8 * 64 + i % 16 / 8 * 512 + i / 16 % 8 * 8 + i % 8] = __float2half(x[i]);
    for (int i = t; i < 16 * 16; i += 128)
        key[i / 16 / 8 * 64 + i % 16 / 8 * 128 + i / 16 % 8 * 8 + i % 8] = __float2half(x[i]);
    for (int i = t; i < 16 * 16; i += 128)
        v[i % 16 / 8 * 64 + i / 16 / 8 * 128 + i / 16 % 8 * 8 + i % 8] = __float2half(x[i + 256]);
    proxy_fence();
    __syncthreads();
    u64 dq = describe(q, 1024, 128, 0), dk = describe(key, 256, 128, 0), dv = describe(v, 256, 128, 0);
    float o[8] = {};
    for (int r = 0; r < rounds; ++r) {
        float s[8];
        arrive();
        mma<0, 0>(s, dq, dk, 0);
        commit();
        wait<0>();
        unsigned p[4];
        for (int i = 0; i < 4; ++i) {
            __half2 h = __floats2half2_rn(s[2 * i] > 40.f ? 1.f : 0.f, s[2 * i + 1] > 40.f ? 1.f : 0.f);
            p[i] = *(unsigned*)&h;
        }
        for (int i = 0; i < 8; ++i) o[i] *= 0.5f;
        arrive();
        mma(o, p, dv);
        commit();
        wait<0>();
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        float expected = 0;
        for (int j = 0; j < 16; ++j) {
            float sum = 0;
            for (int k = 0; k < 16; ++k) sum += x[row_of(i) * 16 + k] * x[j * 16 + k];
            if (sum > 40.f) expected += x[256 + j * 16 + column_of(i)];
        }
        float total = 0;
        for (int r = 0; r < rounds; ++r) total = total * 0.5f + expected;
        if (o[i] != total) __trap();
        y[row_of(i) * 16 + column_of(i)] = o[i];
    }
}
