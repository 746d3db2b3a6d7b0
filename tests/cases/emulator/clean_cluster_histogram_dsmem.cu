// target: compute_90
// buffer: x input i32 2048 mod 64
// buffer: y inout i32 64
// launch: k grid=8,1,1 block=128 cluster=4,1,1 args=x,y,i:2048
// expect: clean
// value: y[0] = 256
// value: y[1] = 128
// value: y[63] = 0
// Each block of a cluster owns a quarter of the bins; the others add to them through distributed shared memory.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const int* x, int* y, int n) {
    __shared__ int bins[16];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < 16; i += blockDim.x) bins[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int bin = x[i] & 63;
        int* there = cluster.map_shared_rank(bins, bin / 16);
        atomicAdd(there + bin % 16, 1);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < 16; i += blockDim.x)
        atomicAdd(&y[cluster.block_rank() * 16 + i], bins[i]);
}
