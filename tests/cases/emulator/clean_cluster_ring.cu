// target: compute_90
// buffer: y output i32 32
// launch: k grid=4,2,1 block=32 args=y
// expect: clean
// value: y[0] = 4
// value: y[2] = 6
// Reads the next block's shared memory in both ways of writing, and what a block knows of its cluster.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 2, 1) k(int* y) {
    __shared__ int mine[32];
    auto cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), n = cluster.num_blocks();
    mine[threadIdx.x] = blockIdx.x + 4 * blockIdx.y + threadIdx.x;
    cluster.barrier_arrive();
    cluster.barrier_wait();
    const int* next = cluster.map_shared_rank(mine, (rank + 1) % n);
    unsigned at = (unsigned)__cvta_generic_to_shared(mine), there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"((rank + 2) % n));
    int direct;
    asm volatile("ld.shared::cluster.b32 %0, [%1];" : "=r"(direct) : "r"(there + 4 * threadIdx.x));
    // the block in the other row and the same column has a number that is 4 away
    bool good = direct == (int)(blockIdx.x + 4 * (blockIdx.y ^ 1) + threadIdx.x);
    good &= cluster.query_shared_rank(next) == (rank + 1) % n;
    good &= cluster.block_index().x == blockIdx.x % 2 && cluster.dim_blocks().y == 2;
    if (threadIdx.x == 0 && !(blockIdx.x == 2 && blockIdx.y == 0))
        y[blockIdx.x + 4 * blockIdx.y] = good ? n : -1;
    if (threadIdx.x == 1 && rank == 0) y[8 + blockIdx.x / 2] = next[0] + 1;
    if (threadIdx.x == 2 && blockIdx.x == 2 && blockIdx.y == 0) y[2] = good ? 6 : -1;
    cluster.sync();
}
