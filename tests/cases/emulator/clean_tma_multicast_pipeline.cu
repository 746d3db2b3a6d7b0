// target: compute_90a
// buffer: x input f32 16384
// buffer: y output f32 8192
// launch: k grid=4,1,1 block=256 cluster=2,1,1 args=map:x:f32:128x128:32x16:128,map:y:f32:64x128:32x16:none
// expect: clean
// value: y[0] = 3.75
// value: y[37] = 4.25
// value: y[8191] = 6.5
// The shape of CUTLASS' multicast main loop: each block of a pair brings half of a tile to both, a consumer warp's
// leader releases a stage in both blocks through mapa, the prologue uses a relaxed arrival after
// fence.mbarrier_init, and the epilogue stores from two buffers in turn. Blocks 2c and 2c+1 sum columns
// 64c .. 64c+31 and 64c+32 .. 64c+63 of x into their own 32 columns of y.
struct __align__(64) Map { char bytes[128]; };
constexpr int kStages = 3, kTiles = 8, kHalf = 32 * 16 * 4;
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void wait(unsigned long long* b, unsigned parity) {
    asm volatile("{.reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra D; bra L; D: }" ::"r"(at(b)), "r"(parity) : "memory");
}
extern "C" __global__ void __launch_bounds__(256) k(const __grid_constant__ Map from, const __grid_constant__ Map to) {
    __shared__ __align__(1024) float in[kStages][2][512];
    __shared__ __align__(128) float out[2][512];
    __shared__ unsigned long long full[kStages], empty[kStages];
    const int t = threadIdx.x, warp = t / 32, lane = t % 32;
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    const int pair = blockIdx.x / 2;
    if (t == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&from) : "memory");
        for (int s = 0; s < kStages; ++s) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full[s])) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 8;" ::"r"(at(&empty[s])) : "memory");  // 4 warps of 2 blocks
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (warp >= 4) {  // producer
        if (t == 128)
            for (int i = 0; i < kTiles; ++i) {
                const int s = i % kStages;
                wait(&empty[s], ((i / kStages) & 1) ^ 1);
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&full[s])), "r"(2 * kHalf) : "memory");
                asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                             ::"r"(at(in[s][rank])), "l"(&from), "r"(64 * pair + 32 * (int)rank), "r"(16 * i), "r"(at(&full[s])), "h"((short)3) : "memory");
            }
        // The block stays until the last arrivals of its peer have come.
        if (t == 128)
            for (int i = kTiles; i < kTiles + kStages; ++i) wait(&empty[i % kStages], ((i / kStages) & 1) ^ 1);
    } else {
        for (int i = 0; i < kTiles; ++i) {
            const int s = i % kStages, o = i & 1;
            wait(&full[s], (i / kStages) & 1);
            if (i >= 2) {
                if (t == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
                asm volatile("bar.sync 1, 128;" ::: "memory");
            }
            for (int e = t; e < 512; e += 128) out[o][((e ^ ((e / 32 % 8) << 2)))] = in[s][0][e] + in[s][1][e];
            __syncwarp();
            if (lane < 2) {  // to both blocks
                unsigned there;
                asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at(&empty[s])), "r"(lane));
                asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
            }
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            asm volatile("bar.sync 1, 128;" ::: "memory");
            if (t == 0 && rank == 0) {
                asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                             ::"l"(&to), "r"(32 * pair), "r"(16 * i), "r"(at(out[o])) : "memory");
            }
            if (t == 0) asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
        if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
