// target: compute_90a
// buffer: x input f32 512
// buffer: y output f32 1024
// launch: k grid=2 block=128 cluster=2 args=x,y
// expect: cluster-access line 21
// also: deadlock
// The pair synchronises only within its blocks before one writes to the other.
#include <cooperative_groups.h>
#include <cuda/ptx>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ __align__(128) float data[128];
    __shared__ unsigned long long full;
    auto cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank();
    if (threadIdx.x == 0) ptx::mbarrier_init(&full, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, 512);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, data + 64 * rank, x + 64 * rank, 256, &full, (unsigned short)3);
    }
    while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
    y[128 * blockIdx.x + threadIdx.x] = data[threadIdx.x];
    cluster.sync();
}
