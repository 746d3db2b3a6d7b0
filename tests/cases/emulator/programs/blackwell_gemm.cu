// C = A B' on sm_100a as libraries write it: a persistent, warp-specialised kernel. One thread copies tiles of A and
// B with TMA into a ring of stages, one issues tcgen05.mma into two accumulators in Tensor Memory, and four warps
// take these out through shared memory with TMA. FAULT takes one step out or makes one wrong.
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
__device__ __forceinline__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void fence_before() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
__device__ __forceinline__ void fence_after() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
__device__ __forceinline__ void commit(u64* barrier) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(at(barrier)) : "memory");
}
// Rows of 128 bytes along k, swizzled by 128 bytes, in groups of eight.
__device__ u64 describe(const void* p) { return (at(p) >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 46 | 2ull << 61; }
// 128 x 64 (+)= 128 x 16 by 16 x 64, f16 to f32.
__device__ __forceinline__ void multiply(unsigned d, u64 a, u64 b, int add) {
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(d), "l"(a),
        "l"(b), "r"(1u << 4 | (64u >> 3) << 17 | (128u >> 4) << 24), "r"(add)
        : "memory");
}
__device__ __forceinline__ void take(unsigned (&d)[32], unsigned from) {
    asm volatile(
        "tcgen05.ld.sync.aligned.32x32b.x32.b32 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, [%32];"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]), "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7]), "=r"(d[8]), "=r"(d[9]), "=r"(d[10]), "=r"(d[11]), "=r"(d[12]), "=r"(d[13]), "=r"(d[14]), "=r"(d[15]), "=r"(d[16]), "=r"(d[17]), "=r"(d[18]), "=r"(d[19]), "=r"(d[20]), "=r"(d[21]), "=r"(d[22]), "=r"(d[23]), "=r"(d[24]), "=r"(d[25]), "=r"(d[26]), "=r"(d[27]), "=r"(d[28]), "=r"(d[29]), "=r"(d[30]), "=r"(d[31])
        : "r"(from));
}
constexpr int kM = 128, kN = 64, kK = 64, kStages = 3, kColumns = 2 * kN;
struct Shared {
    __half a[kStages][kM * kK];
    __half b[kStages][kN * kK];
    float c[2][kM * 32];
    u64 full[kStages], empty[kStages], filled[2], taken[2];
    unsigned base;
};
extern "C" __global__ void __launch_bounds__(256, 1)
    gemm(const __grid_constant__ Map map_a, const __grid_constant__ Map map_b, const __grid_constant__ Map map_c, int m, int n, int k) {
    extern __shared__ __align__(1024) char storage[];
    Shared& s = *reinterpret_cast<Shared*>(storage);
    const int warp = threadIdx.x / 32, t = threadIdx.x % 128;
    const int across = (n + kN - 1) / kN, tiles = (m + kM - 1) / kM * across, steps = (k + kK - 1) / kK;
    if (threadIdx.x == 0) {
        for (int i = 0; i < kStages; ++i) {
            init(&s.full[i], 1);
            init(&s.empty[i], 1);
        }
        for (int i = 0; i < 2; ++i) {
            init(&s.filled[i], 1);
            init(&s.taken[i], FAULT == 11 ? 2 : 4);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (warp == 2) {
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(at(&s.base)), "r"(FAULT == 1 ? 96 : kColumns) : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    }
    fence_before();
    __syncthreads();
    fence_after();
    const unsigned base = s.base;
    if (threadIdx.x == 0) {
        int copied = 0;
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            for (int step = 0; step < steps; ++step, ++copied) {
                const int stage = copied % kStages;
#if FAULT != 2
                wait(&s.empty[stage], copied / kStages + 1 & 1);
#endif
                expect(&s.full[stage], (kM + kN) * kK * 2);
                load(s.a[stage], &map_a, step * kK, tile / across * kM, &s.full[stage]);
                load(s.b[stage], &map_b, step * kK, tile % across * kN, &s.full[stage]);
            }
        }
    } else if (threadIdx.x == 32) {
        int used = 0, number = 0;
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, ++number) {
            const int buffer = number % 2;
#if FAULT != 3
            wait(&s.taken[buffer], number / 2 + 1 & 1);
#endif
#if FAULT != 4
            fence_after();
#endif
            for (int step = 0; step < steps; ++step, ++used) {
                const int stage = used % kStages;
#if FAULT != 5
                wait(&s.full[stage], used / kStages & 1);
#endif
                for (int i = 0; i < kK / 16; ++i)
                    multiply(base + buffer * (FAULT == 6 ? 96 : kN), describe(s.a[stage] + 16 * i), describe(s.b[stage] + 16 * i),
                             FAULT == 7 ? 1 : step + i > 0);
#if FAULT != 8
                commit(&s.empty[stage]);
#endif
            }
#if FAULT == 8
            for (int i = 0; i < steps && i < kStages; ++i) commit(&s.empty[(used - 1 - i) % kStages]);
#endif
            commit(&s.filled[buffer]);
        }
    } else if (warp >= 4) {
        int number = 0;
        for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, ++number) {
            const int buffer = number % 2;
#if FAULT != 9
            wait(&s.filled[buffer], number / 2 & 1);
#endif
#if FAULT != 10
            fence_after();
#endif
            unsigned d[2][32];
            const unsigned from = base + buffer * kN + ((FAULT == 12 ? 7 - warp : warp - 4) * 32 << 16);
            take(d[0], from);
            take(d[1], from + 32);
#if FAULT != 13
            asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
#endif
#if FAULT != 14
            fence_before();
#endif
            __syncwarp();
            if (t % 32 == 0) arrive(&s.taken[buffer]);
            if (t == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
            asm volatile("bar.sync 1, 128;" ::: "memory");
            for (int i = 0; i < 64; ++i) s.c[i / 32][t * 32 + i % 32] = __uint_as_float(d[i / 32][i % 32]);
#if FAULT != 15
            proxy_fence();
#endif
            asm volatile("bar.sync 1, 128;" ::: "memory");
            if (t == 0) {
                for (int i = 0; i < 2; ++i) store(&map_c, tile % across * kN + 32 * i, tile / across * kM, s.c[i]);
                asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            }
        }
        if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
    __syncthreads();
#if FAULT != 16
    if (warp == 2) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(base), "r"(kColumns));
#endif
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
