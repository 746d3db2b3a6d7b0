// target: compute_100a
// buffer: y output i32 1024
// launch: k grid=4 block=128 cluster=2 args=y
// expect: clean
// value: y[0] = 100
// value: y[127] = 227
// value: y[256] = 1100
// Each block of a pair copies a row of words from shared to Tensor Memory; its commit arrives at both blocks' mbarriers,
// which wait for both.
#include <cooperative_groups.h>
#include <cuda/ptx>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
extern "C" __global__ void k(int* y) {
    __shared__ __align__(1024) int data[512];
    __shared__ unsigned long long done;
    __shared__ unsigned base;
    auto cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), t = threadIdx.x, warp = t / 32;
    if (t == 0) {
        ptx::mbarrier_init(&done, 2);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    if (warp == 0) {
        ptx::tcgen05_alloc(ptx::cta_group_1, &base, 32);
        ptx::tcgen05_relinquish_alloc_permit(ptx::cta_group_1);
    }
    for (int i = 0; i < 4; ++i) data[4 * t + i] = 100 + t + 1000 * rank + 10000 * i;
    ptx::fence_proxy_async(ptx::space_shared);
    ptx::tcgen05_fence_before_thread_sync();
    cluster.sync();
    ptx::tcgen05_fence_after_thread_sync();
    if (t == 0) {
        const unsigned from = (unsigned)__cvta_generic_to_shared(data);
        ptx::tcgen05_cp_128x128b(ptx::cta_group_1, base, from >> 4 | 8ull << 32 | 1ull << 46);
        ptx::tcgen05_commit_multicast(ptx::cta_group_1, &done, (unsigned short)3);
    }
    while (!ptx::mbarrier_try_wait_parity(&done, 0)) {}
    ptx::tcgen05_fence_after_thread_sync();
    unsigned got[1];
    ptx::tcgen05_ld_32x32b(got, base + (warp * 32 << 16));
    ptx::tcgen05_wait_ld();
    y[256 * blockIdx.x + t] = got[0];
    y[256 * blockIdx.x + 128 + t] = 0;
    ptx::tcgen05_fence_before_thread_sync();
    cluster.sync();
    if (warp == 0) ptx::tcgen05_dealloc(ptx::cta_group_1, base, 32);
}
