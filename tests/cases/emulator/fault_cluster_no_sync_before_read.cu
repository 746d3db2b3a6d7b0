// target: compute_90
// buffer: y output i32 64
// launch: k grid=2 block=32 cluster=2 args=y
// expect: shared-race line 16 other 15
// The barrier comes before the write that the other block reads.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(int* y) {
    __shared__ int mine[32];
    auto cluster = cg::this_cluster();
    mine[threadIdx.x] = threadIdx.x;
    cluster.sync();
    unsigned peer = cluster.block_rank() ^ 1;
    __syncthreads();
    if (threadIdx.x < 16) mine[threadIdx.x] = threadIdx.x + 1;
    y[32 * blockIdx.x + threadIdx.x] = cluster.map_shared_rank(mine, peer)[threadIdx.x];
    cluster.sync();
}
