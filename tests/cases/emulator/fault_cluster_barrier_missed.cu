// target: compute_90
// buffer: y output i32 64
// launch: k grid=4 block=32 cluster=2 args=y
// expect: deadlock line 10
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(int* y) {
    auto cluster = cg::this_cluster();
    __shared__ volatile int flag;
    if (cluster.block_rank() == 0) cluster.sync();
    if (threadIdx.x == 0 && cluster.block_rank() == 1) flag = 0;
    if (threadIdx.x == 0 && cluster.block_rank() == 1) while (flag == 0) {}
    y[32 * blockIdx.x + threadIdx.x] = 1;
}
