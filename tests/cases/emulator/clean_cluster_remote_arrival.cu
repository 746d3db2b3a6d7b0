// target: compute_90
// buffer: y output i32 128
// launch: k grid=4 block=64 cluster=2 args=y
// expect: clean
// value: y[0] = 63
// A block writes into its peer's shared memory and tells it by an arrival at the peer's mbarrier.
#include <cooperative_groups.h>
#include <cuda/ptx>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
extern "C" __global__ void k(int* y) {
    __shared__ int box[64];
    __shared__ unsigned long long bar;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 64);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    cluster.sync();
    unsigned peer = cluster.block_rank() ^ 1;
    cluster.map_shared_rank(box, peer)[threadIdx.x] = 63 - threadIdx.x;
    ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                         cluster.map_shared_rank(&bar, peer));
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0)) {}
    if (blockIdx.x < 2) y[64 * blockIdx.x + threadIdx.x] = box[threadIdx.x];
    cluster.sync();
}
