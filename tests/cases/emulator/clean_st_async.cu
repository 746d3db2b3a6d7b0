// target: compute_90
// buffer: y output i32 128
// launch: k grid=2 block=64 cluster=2 args=y
// expect: clean
// value: y[0] = 163
// Each thread sends a value to its peer block; the bytes complete there on the peer's mbarrier.
#include <cooperative_groups.h>
#include <cuda/ptx>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
extern "C" __global__ void k(int* y) {
    __shared__ int box[64];
    __shared__ unsigned long long bar;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(box));
    }
    cluster.sync();
    const unsigned peer = cluster.block_rank() ^ 1;
    ptx::st_async(cluster.map_shared_rank(box, peer) + threadIdx.x, (int)(100 * cluster.block_rank() + 63 - threadIdx.x),
                  cluster.map_shared_rank(&bar, peer));
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0)) {}
    y[64 * blockIdx.x + threadIdx.x] = box[threadIdx.x];
    cluster.sync();
}
