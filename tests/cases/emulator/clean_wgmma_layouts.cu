// buffer: x input f32 4096
// buffer: y output f32 12288
// target: compute_90a
// launch: k grid=1 block=128 args=x,y
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
// 64 x 64 of A by 64 x 16 of B, in every swizzle, along k and across it; checked against the plain product.
__device__ int value(int i, int j) { return (i * 5 + j * 3) % 7 - 3; }
template <int W, bool TA, bool TB>
__device__ void product(__half* sa, __half* sb, float* y) {
    const int line = 8 * W;  // halves in a row of an atom
    int t = threadIdx.x;
    auto place = [&](int outer, int k, int wide, bool across) {
        int r = across ? k : outer, c = across ? outer : k;
        int atom = across ? c / line + r / 8 * wide : r / 8 + c / line * wide;
        unsigned byte = atom * 128 * W + r % 8 * 16 * W + c % line * 2;
        return (byte ^ ((byte >> 7 & (W - 1)) << 4)) / 2;
    };
    const int wide_a = TA ? 64 / line : 8, wide_b = TB ? (16 + line - 1) / line : 2;
    for (int i = t; i < 64 * 64; i += 128)
        sa[place(i / 64, i % 64, wide_a, TA)] = __int2half_rn(value(i / 64, i % 64));
    for (int i = t; i < 16 * 64; i += 128)
        sb[place(i / 64, i % 64, wide_b, TB)] = __int2half_rn(value(i % 64, i / 64));
    proxy_fence();
    __syncthreads();
    const u64 layout = W == 1 ? 0 : W == 2 ? 3 : W == 4 ? 2 : 1;
    auto operand = [&](__half* s, int k, int wide, bool across) {
        const u64 next_outer = 128 * W, next_k = 128 * W * wide;
        if (across) {
            char* p = (char*)s + k / 8 * next_k;
            return W == 1 ? describe(p, next_k, next_outer, layout) : describe(p, next_outer, next_k, layout);
        }
        char* p = (char*)s + k / line * next_k + (W == 1 ? 0 : k % line * 2);
        return describe(p, W == 1 ? next_k : 16, next_outer, layout);
    };
    float d[8];
    for (int i = 0; i < 8; ++i) d[i] = 0;
    for (int i = 0; i < 8; ++i) keep(d[i]);
    arrive();
    for (int k = 0; k < 64; k += 16)
        mma<TA, TB>(d, operand(sa, k, wide_a, TA), operand(sb, k, wide_b, TB), 1);
    commit();
    wait<0>();
    for (int i = 0; i < 8; ++i) keep(d[i]);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        int sum = 0;
        for (int k = 0; k < 64; ++k) sum += value(row_of(i), k) * value(k, column_of(i));
        if (d[i] != sum) __trap();
        y[row_of(i) * 16 + column_of(i)] = d[i];
    }
    __syncthreads();
}
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ __align__(1024) __half sa[64 * 64], sb[64 * 64];
    product<1, false, false>(sa, sb, y);
    product<1, false, true>(sa, sb, y);
    product<1, true, false>(sa, sb, y);
    product<2, false, false>(sa, sb, y);
    product<2, true, true>(sa, sb, y);
    product<4, false, true>(sa, sb, y);
    product<4, true, false>(sa, sb, y);
    product<8, false, false>(sa, sb, y);
    product<8, true, true>(sa, sb, y);
    product<8, false, true>(sa, sb, y);
}
