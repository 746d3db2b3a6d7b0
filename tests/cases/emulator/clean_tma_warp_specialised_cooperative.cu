// target: compute_90a
// buffer: x input f32 8192
// buffer: y output f32 64
// launch: k grid=4 block=384 args=map:x:f32:32x256:32x16:128,y
// expect: clean
// value: y[0] = 380
// Two consumer groups take tiles in turn; registers move between the groups; the full barriers are waited for by
// one elected thread per warp, and a leader arrives for its warp.
#include <cuda/ptx>
namespace ptx = cuda::ptx;
struct __align__(64) Map { char bytes[128]; };
extern "C" __global__ void __launch_bounds__(384) k(const __grid_constant__ Map map, float* y) {
    constexpr int kStages = 4, kTiles = 8;
    __shared__ __align__(1024) float tile[kStages][512];
    __shared__ unsigned long long full[kStages], empty[kStages];
    __shared__ float sums[2][16];
    const int group = threadIdx.x / 128, t = threadIdx.x % 128, warp = t / 32, lane = t % 32;
    if (threadIdx.x == 0) {
        for (int s = 0; s < kStages; ++s) {
            ptx::mbarrier_init(&full[s], 1);
            ptx::mbarrier_init(&empty[s], 4);
        }
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::fence_proxy_async();
    }
    __syncthreads();
    if (group == 2) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        unsigned leader, chosen;
        asm volatile("{.reg .pred p; elect.sync %0|p, 0xffffffff; selp.u32 %1, 1, 0, p;}" : "=r"(leader), "=r"(chosen));
        if (warp == 0 && chosen)
            for (int i = 0; i < kTiles; ++i) {
                const int s = i % kStages, parity = (i / kStages) & 1;
                while (!ptx::mbarrier_try_wait_parity(&empty[s], parity ^ 1)) {}
                ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], 2048);
                const int at[2] = {0, 64 * (int)blockIdx.x + 16 * (i % 4)};
                ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile[s], &map, at, &full[s]);
            }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float sum = 0;
    for (int i = group; i < kTiles; i += 2) {
        const int s = i % kStages, parity = (i / kStages) & 1;
        while (!ptx::mbarrier_try_wait_parity(&full[s], parity)) {}
        for (int e = t; e < 512; e += 128) {
            // element e of the tile in row-major order
            const int row = e / 32, column = e % 32, chunk = (column / 4) ^ (row % 8);
            sum += tile[s][row * 32 + chunk * 4 + column % 4] * (column == 5 ? 1.f : 0.f) + (column == 0 ? 1.f : 0.f);
        }
        __syncwarp();
        if (lane == 0) ptx::mbarrier_arrive(&empty[s]);
    }
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0) sums[group][warp] = sum;
    asm volatile("bar.sync 3, 256;");
    if (threadIdx.x == 0) {
        float all = 0;
        for (int g = 0; g < 2; ++g)
            for (int w = 0; w < 4; ++w) all += sums[g][w];
        y[blockIdx.x] = all;
    }
}
