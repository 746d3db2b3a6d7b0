// target: compute_90a
// buffer: x input f32 4096
// buffer: y output f32 4096
// launch: k grid=2 block=160 shared=0 args=map:x:f32:64x64:32x16:128,map:y:f32:64x64:32x16:128
// expect: shared-race line 29 other 59
// The staging buffer is overwritten while the store may still read it.
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
        for (int s = 0; s < kStages; ++s) { init(&full[s], 1); init(&empty[s], 128); }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
    }
    __syncthreads();
    if (t >= 128) {  // the producer's warp
        if (t == 128)
            for (int i = 0; i < kTiles; ++i) {
                const int s = i % kStages, round = i / kStages;
                wait(&empty[s], (round & 1) ^ 1);
                expect(&full[s], kTileBytes);
                load(in[s], &from, 32 * blockIdx.x, 16 * i, &full[s]);
            }
        return;
    }
    for (int i = 0; i < kTiles; ++i) {
        const int s = i % kStages, round = i / kStages;
        wait(&full[s], round & 1);
        if (i > 0) {
            if (t == 0) ;
            asm volatile("bar.sync 1, 128;" ::: "memory");
        }
        for (int e = t; e < 512; e += 128) out[e] = 2.f * in[s][e];  // both are swizzled alike
        arrive(&empty[s]);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("bar.sync 1, 128;" ::: "memory");
        if (t == 0) {
            store(&to, 32 * blockIdx.x, 16 * i, out);
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
    }
    if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
