// Cooperative groups of a cluster: ranks, the others' shared memory, barriers in two parts; a grid of clusters.
// target: compute_90
// buffer: x input i32 512 mod 101
// buffer: y output i32 512
// launch: k grid=4 block=128 cluster=2 args=x,y
// expect: clean
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#define CHECK(x) if (!(x)) __trap()
namespace cg = cooperative_groups;
extern "C" __global__ void k(const int* x, int* y) {
    auto cluster = cg::this_cluster();
    auto block = cg::this_thread_block();
    __shared__ int s[128], total;
    int t = threadIdx.x, rank = cluster.block_rank(), peer = rank ^ 1, at = blockIdx.x * 128 + t;
    CHECK(cluster.num_blocks() == 2 && cluster.num_threads() == 256 && cluster.thread_rank() == rank * 128 + t);
    CHECK(cluster.dim_blocks().x == 2 && cluster.block_index().x == rank && blockIdx.x % 2 == rank);
    s[t] = x[at];
    if (t == 0) total = 0;
    cluster.sync();
    int* other = cluster.map_shared_rank(s, peer);
    CHECK(cluster.query_shared_rank(other) == peer && cluster.query_shared_rank(s) == rank);
    CHECK(other[127 - t] == x[(blockIdx.x ^ 1) * 128 + 127 - t]);
    // a sum of all in the block of rank 0
    int sum = cg::reduce(cg::tiled_partition<32>(block), s[t], cg::plus<int>());
    if (t % 32 == 0) atomicAdd(cluster.map_shared_rank(&total, 0), sum);
    auto token = cluster.barrier_arrive();
    int expected = 0, first = blockIdx.x / 2 * 256;
    for (int i = 0; i < 256; ++i) expected += x[first + i];
    cluster.barrier_wait(std::move(token));
    CHECK(*cluster.map_shared_rank(&total, 0) == expected);
    // each writes what the other reads next
    cluster.sync();
    cluster.map_shared_rank(s, peer)[t] = 1000 * rank + t;
    cluster.sync();
    CHECK(s[t] == 1000 * peer + t);
    auto grid = cg::this_grid();
    CHECK(grid.num_clusters() == 2 && grid.cluster_rank() == blockIdx.x / 2 && grid.num_blocks() == 4);
    y[at] = s[t];
    cluster.sync();
}
