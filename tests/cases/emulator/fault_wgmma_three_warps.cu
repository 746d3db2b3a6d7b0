// buffer: x input f32 2048
// buffer: y output f32 1024
// target: compute_90a
// launch: k grid=1 block=128 args=x,y
// expect: divergent-wgmma line 27 other 17
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
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ __align__(128) __half a[64 * 16], b[16 * 16];
    int t = threadIdx.x;
    for (int i = t; i < 64 * 16; i += 128)
        a[i / 16 / 8 * 64 + i % 16 / 8 * 512 + i / 16 % 8 * 8 + i % 8] = __float2half(x[i]);
    for (int i = t; i < 16 * 16; i += 128)
        b[i / 16 / 8 * 64 + i % 16 / 8 * 128 + i / 16 % 8 * 8 + i % 8] = __float2half(x[1024 + i]);
    proxy_fence();
    __syncthreads();
    u64 da = describe(a, 1024, 128, 0), db = describe(b, 256, 128, 0);
    float d[8] = {};
    arrive();
    if (t < 96) mma<0, 0>(d, da, db, 1);
    commit();
    wait<0>();
    for (int i = 0; i < 8; ++i) y[row_of(i) * 16 + column_of(i)] = d[i];
}
