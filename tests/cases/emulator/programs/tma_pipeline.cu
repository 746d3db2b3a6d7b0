// A pipeline of TMA loads and stores between a producer warp and 128 consumers. FAULT takes one step out or makes
// one wrong.
#ifndef FAULT
#define FAULT 0
#endif
#include <cuda/ptx>
struct __align__(64) Map { char bytes[128]; };
constexpr int kStages = 2, kTiles = 4, kTileBytes = 32 * 16 * 4;
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(unsigned long long* b, int n) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory");
}
__device__ void wait(unsigned long long* b, int parity) {
    asm volatile("{.reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra L;}" ::"r"(at(b)), "r"(parity) : "memory");
}
__device__ void expect(unsigned long long* b, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(b)), "r"(bytes) : "memory");
}
__device__ void arrive(unsigned long long* b) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory");
}
__device__ void load(void* to, const Map* map, int x, int y, unsigned long long* b) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(at(to)), "l"(map), "r"(x), "r"(y), "r"(at(b)) : "memory");
}
__device__ void store(const Map* map, int x, int y, const void* from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                 ::"l"(map), "r"(x), "r"(y), "r"(at(from)) : "memory");
}
extern "C" __global__ void k(const __grid_constant__ Map from, const __grid_constant__ Map to) {
    __shared__ __align__(1024) float in[kStages][512];
    __shared__ __align__(1024) float out[512];
    __shared__ unsigned long long full[kStages], empty[kStages];
    const int t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < kStages; ++s) { init(&full[s], 1); init(&empty[s], FAULT == 3 ? 160 : FAULT == 4 ? 96 : 128); }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
    }
    __syncthreads();
    if (t >= 128) {  // the producer's warp
        if (t == 128)
            for (int i = 0; i < kTiles; ++i) {
                const int s = i % kStages, round = i / kStages;
                if (FAULT != 6) wait(&empty[s], (round & 1) ^ 1);
                expect(&full[s], FAULT == 1 ? kTileBytes / 2 : FAULT == 2 ? kTileBytes + 16 : kTileBytes);
                load(in[s], &from, 32 * blockIdx.x, 16 * i, &full[s]);
            }
        return;
    }
    for (int i = 0; i < kTiles; ++i) {
        const int s = i % kStages, round = i / kStages;
        if (FAULT != 7) wait(&full[s], FAULT == 8 ? (round & 1) ^ 1 : round & 1); if (FAULT == 9) arrive(&empty[s]);
        if (i > 0) {
            if (FAULT != 10 && t == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
            asm volatile("bar.sync 1, 128;" ::: "memory");
        }
        for (int e = t; e < 512; e += 128) out[e] = 2.f * in[s][e];  // both are swizzled alike
        if (FAULT != 9) arrive(&empty[s]);
        if (FAULT != 5) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("bar.sync 1, 128;" ::: "memory");
        if (t == 0) {
            store(&to, 32 * blockIdx.x, 16 * i, out);
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
    }
    if (FAULT != 11 && t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
