// cuda/ptx: the wrappers of mbarriers, bulk copies, reductions, fences and registers, and how they write their PTX.
// target: compute_90
// buffer: x input i32 256 mod 101
// buffer: y inout i32 256
// launch: k grid=2 block=64 cluster=2 args=x,y
// expect: clean
#include <cuda/barrier>
#include <cuda/ptx>
#define CHECK(x) if (!(x)) __trap()
namespace ptx = cuda::ptx;
extern "C" __global__ void k(const int* x, int* y) {
    __shared__ alignas(128) int s[64], sums[64], counter;
    __shared__ alignas(8) unsigned long long bar, remote;
    int t = threadIdx.x;
    unsigned rank = ptx::get_sreg_cluster_ctarank();
    CHECK(ptx::get_sreg_tid_x() == t && ptx::get_sreg_ntid_x() == 64 && ptx::get_sreg_laneid() == t % 32 && ptx::get_sreg_cluster_nctarank() == 2);
    if (t == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::mbarrier_init(&remote, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    sums[t] = 0;
    if (t == 0) counter = 7;
    ptx::barrier_cluster_arrive(ptx::sem_release);
    ptx::barrier_cluster_wait(ptx::sem_acquire);
    if (t == 0) {
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, x + 64 * rank, sizeof s, &bar);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof s);
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &bar, 0)) {
    }
    CHECK(s[63 - t] == x[64 * rank + 63 - t]);
    // a value and its bytes to the other block
    auto* there = reinterpret_cast<unsigned long long*>(__cluster_map_shared_rank(&remote, rank ^ 1));
    auto* place = reinterpret_cast<int*>(__cluster_map_shared_rank(sums, rank ^ 1));
    if (t == 0) ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &remote, 64 * 4 + 4);
    ptx::st_async(place + t, s[t] * 2, there);
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
    if (t == 5) ptx::red_async(ptx::op_add, static_cast<int*>(__cluster_map_shared_rank(&counter, rank ^ 1)), 5, there);
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &remote, 0)) {
    }
    CHECK(sums[t] == 2 * x[64 * (rank ^ 1) + t] && counter == 12);
    // back to global memory, stored and added
    __syncthreads();
    sums[t] = 10 * rank + t;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (t == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y + 64 * rank, sums, sizeof sums);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, y + 64 * rank, sums, sizeof sums);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
        for (int i = 0; i < 64; ++i) CHECK(y[64 * rank + i] == 2 * (10 * rank + i));
    }
    ptx::barrier_cluster_arrive(ptx::sem_relaxed);
    ptx::barrier_cluster_wait();
}
