// target: compute_90
// buffer: y output i32 64
// launch: k grid=2 block=32 cluster=2 args=y
// expect: cluster-access line 10
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(int* y) {
    __shared__ int mine[32];
    auto cluster = cg::this_cluster();
    cluster.map_shared_rank(mine, cluster.block_rank() ^ 1)[threadIdx.x] = threadIdx.x;
    cluster.sync();
    y[32 * blockIdx.x + threadIdx.x] = mine[threadIdx.x];
}
