// C = A B' on sm_90a as libraries write it: a persistent, warp-specialised kernel. One producer thread copies tiles
// of A and B with TMA into a ring of stages; two consumer groups multiply with wgmma and store their half of C
// through shared memory with TMA. FAULT takes one step out or makes one wrong.
#include <cuda_fp16.h>
typedef unsigned long long u64;
#ifndef FAULT
#define FAULT 0
#endif
struct __align__(64) Map {
    char bytes[128];
};
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(u64* barrier, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(barrier)), "r"(count) : "memory");
}
__device__ __forceinline__ void wait(u64* barrier, int parity) {
    asm volatile(
        "{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(at(barrier)),
        "r"(parity)
        : "memory");
}
__device__ __forceinline__ void expect(u64* barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(barrier)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void arrive(u64* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(barrier)) : "memory");
}
__device__ __forceinline__ void load(void* to, const Map* map, int x, int y, u64* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            at(to)),
        "l"(map), "r"(x), "r"(y), "r"(at(barrier))
        : "memory");
}
__device__ __forceinline__ void store(const Map* map, int x, int y, const void* from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x),
                 "r"(y), "r"(at(from))
                 : "memory");
}
// Rows of 128 bytes, swizzled by 128 bytes, in groups of eight.
__device__ u64 describe(const void* p) { return (at(p) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62; }
__device__ __forceinline__ void mma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void mma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void mma_wait() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }
__device__ __forceinline__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void group_sync(int group) { asm volatile("bar.sync %0, 128;" ::"r"(group) : "memory"); }
// 64 x 64 (+)= 64 x 16 by 16 x 64, both in shared memory along k.
__device__ __forceinline__ void multiply(float (&d)[32], u64 a, u64 b, int add) {
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %34, 0; "
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0; }"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "l"(a), "l"(b), "r"(add));
}
constexpr int kM = 128, kN = 64, kK = 64, kStages = 3;
struct Shared {
    __half a[kStages][kM * kK];
    __half b[kStages][kN * kK];
    float c[2][2][64 * 32];
    u64 full[kStages], empty[kStages];
};
extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ Map map_a, const __grid_constant__ Map map_b, const __grid_constant__ Map map_c, int m, int n, int k) {
    extern __shared__ __align__(1024) char storage[];
    Shared& s = *reinterpret_cast<Shared*>(storage);
    const int group = threadIdx.x / 128, t = threadIdx.x % 128;
    const int across = (n + kN - 1) / kN, tiles = (m + kM - 1) / kM * across, steps = (k + kK - 1) / kK;
    if (threadIdx.x == 0) {
        for (int i = 0; i < kStages; ++i) {
            init(&s.full[i], 1);
            init(&s.empty[i], FAULT == 9 ? 1 : 2);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
#if FAULT != 10
    __syncthreads();
#endif
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (t != 0) return;
        int filled = 0;
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            for (int step = 0; step < steps; ++step, ++filled) {
                const int stage = filled % kStages;
#if FAULT != 7
                wait(&s.empty[stage], filled / kStages + 1 & 1);
#endif
                const int bytes = (kM + kN) * kK * 2;
                expect(&s.full[stage], FAULT == 3 ? kM * kK * 2 : FAULT == 4 ? bytes + 16 : bytes);
                load(s.a[stage], &map_a, step * kK, tile / across * kM, &s.full[stage]);
                load(s.b[stage], &map_b, step * kK, tile % across * kN, &s.full[stage]);
            }
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int half = group - 1;
    int used = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        float d[32];
        for (int step = 0; step < steps; ++step, ++used) {
            const int stage = used % kStages;
            const int phase = FAULT == 12 ? step / kStages : used / kStages;
#if FAULT != 1
            wait(&s.full[stage], (FAULT == 2 ? phase + 1 : phase) & 1);
#endif
#if FAULT != 5
            mma_fence();
#endif
            for (int i = 0; i < 4; ++i)
                multiply(d, describe(s.a[stage] + half * 64 * kK + 16 * i), describe(s.b[stage] + 16 * i), step + i > 0);
            mma_commit();
#if FAULT == 6
            if (t == 0) arrive(&s.empty[stage]);
#endif
#if FAULT != 8
            mma_wait();
#endif
#if FAULT != 6
            if (t == 0) arrive(&s.empty[stage]);
#endif
        }
#if FAULT != 13
        if (t == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
        group_sync(group);
        for (int i = 0; i < 32; ++i) {
            const int row = t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + t % 4 * 2 + i % 2;
            s.c[half][column / 32][row * 32 + column % 32] = d[i];
        }
#if FAULT != 11
        proxy_fence();
#endif
#if FAULT != 14
        group_sync(group);
#endif
        if (t == 0) {
            for (int i = 0; i < 2; ++i)
                store(&map_c, tile % across * kN + 32 * i, tile / across * kM + 64 * half, s.c[half][i]);
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
    }
    if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
extern "C" __global__ void fill(__half* x, int count, int seed) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        x[i] = __int2half_rn((i * seed + i / 7) % 9 - 4);
}
// The sums are of small integers, so every order gives the same.
extern "C" __global__ void check(const __half* a, const __half* b, const float* c, int m, int n, int k) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m * n; i += gridDim.x * blockDim.x) {
        float sum = 0;
        for (int j = 0; j < k; ++j) sum += __half2float(a[i / n * k + j]) * __half2float(b[i % n * k + j]);
        if (c[i] != sum) __trap();
    }
}
