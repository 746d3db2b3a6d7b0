// target: compute_90
// buffer: y output i32 64
// launch: k grid=2 block=32 cluster=2 args=y
// expect: cluster-access line 15
// Nothing keeps the other block until its memory has been read.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(int* y) {
    __shared__ int mine[32];
    auto cluster = cg::this_cluster();
    mine[threadIdx.x] = threadIdx.x;
    cluster.sync();
    if (cluster.block_rank() == 1) return;
    __nanosleep(1000000);
    for (int i = 0; i < 3000; ++i) y[threadIdx.x] = cluster.map_shared_rank(mine, 1)[threadIdx.x];
}
