// target: compute_90a
// buffer: x input f32 512
// buffer: y output f32 1024
// launch: k grid=4 block=128 cluster=2 args=x,y
// expect: clean
// value: y[0] = 0
// value: y[511] = 0.25
// Each block of a pair brings one half and multicasts it to both; an empty barrier that both arrive at remotely
// keeps a round from overtaking the one before.
#include <cooperative_groups.h>
#include <cuda/ptx>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ __align__(128) float data[128];
    __shared__ unsigned long long full, empty;
    auto cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::mbarrier_init(&empty, 2 * 128);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::fence_proxy_async();
    }
    cluster.sync();
    for (int round = 0; round < 2; ++round) {
        if (threadIdx.x == 0) {
            while (!ptx::mbarrier_try_wait_parity(&empty, (round & 1) ^ 1)) {}
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, 512);
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, data + 64 * rank,
                               x + 256 * (blockIdx.x / 2) + 128 * round + 64 * rank, 256, &full, (unsigned short)3);
        }
        while (!ptx::mbarrier_try_wait_parity(&full, round)) {}
        if (rank == 0) y[256 * (blockIdx.x / 2) + 128 * round + threadIdx.x] = data[threadIdx.x];
        for (unsigned r = 0; r < 2; ++r)
            ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                                 cluster.map_shared_rank(&empty, r));
    }
    cluster.sync();
}
