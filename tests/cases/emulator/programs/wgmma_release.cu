// A warpgroup multiplies the two halves of B, one after the other, and one of its threads hands each on to a thread of
// a fifth warp, which writes over it: no barrier lies between, since a wait of one warp is for the products of all
// four. FAULT hands on too early, or keeps a warp from what the others wait for.
#include <cuda_fp16.h>
typedef unsigned long long u64;
#ifndef FAULT
#define FAULT 0
#endif
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ u64 describe(const void* p, u64 leading, u64 stride) {
    return (at(p) >> 4) | leading >> 4 << 16 | stride >> 4 << 32;
}
__device__ void multiply(float (&d)[8], u64 a, u64 b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, 1, 1, 1, 0, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
        : "l"(a), "l"(b));
}
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N>
__device__ void wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
__device__ void release(u64* empty) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(empty)) : "memory");
}
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ __align__(128) __half a[64 * 16], b[2][16 * 16];
    __shared__ u64 empty[2];
    const int t = threadIdx.x;
    for (int i = t; i < 64 * 16; i += blockDim.x) a[i] = __float2half(x[i]);
    for (int i = t; i < 2 * 16 * 16; i += blockDim.x) b[i / 256][i % 256] = __float2half(x[1024 + i]);
    if (t == 0)
        for (int i = 0; i < 2; ++i)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&empty[i])) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (t >= 128) {
        for (int i = 0; t == 128 && i < 2; ++i) {
            asm volatile(
                "{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(at(&empty[i]))
                : "memory");
            for (int e = 0; e < 256; ++e)
                b[i][e] = __float2half(9.f);
        }
        return;
    }
    float d[8] = {}, e[8] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    multiply(d, describe(a, 1024, 128), describe(b[0], 256, 128));
    commit();
#if FAULT == 3
    if (t >= 96) asm volatile("bar.sync 1, 128;" ::: "memory");
#elif FAULT == 4
    if (t >= 96) return;
#elif FAULT == 5
    if (t >= 96)
        asm volatile("{ .reg .pred p; more: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra more; }" ::"r"(at(&empty[1])));
#endif
    multiply(e, describe(a, 1024, 128), describe(b[1], 256, 128));
    commit();
#if FAULT == 1
    if (t == 0) release(&empty[0]);
#endif
    wait<1>();
#if FAULT != 1
    if (t == 0) release(&empty[0]);
#endif
#if FAULT == 2
    if (t == 0) release(&empty[1]);
#endif
    wait<0>();
#if FAULT != 2
    if (t == 0) release(&empty[1]);
#endif
    for (int i = 0; i < 8; ++i) y[t * 8 + i] = d[i] + e[i];
}
