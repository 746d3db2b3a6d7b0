// What makes an mbarrier that one thread has made fit for the others' use.
// buffer: y output i32 256
// target: compute_90
// launch: cluster grid=2 block=64 cluster=2 args=y
// launch: warp grid=1 block=64 args=y
// launch: rows grid=1 block=16,4 args=y
// launch: named grid=1 block=96 args=y
// launch: flag grid=1 block=64 args=y
// expect: clean
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
typedef unsigned long long u64;
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(u64* bar, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(bar)), "r"(count) : "memory");
}
__device__ void arrive(u64* bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(bar)) : "memory"); }
__device__ void wait(u64* bar, int parity) {
    asm volatile(
        "{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(at(bar)), "r"(parity)
        : "memory");
}
// As CUTLASS does: the fence that is only for mbarrier.init, and a relaxed arrival at the cluster's barrier.
extern "C" __global__ void cluster(int* y) {
    __shared__ u64 bar;
    if (threadIdx.x == 0) {
        init(&bar, 128);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncwarp();
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    for (int rank = 0; rank < 2; ++rank)
        asm volatile(
            "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;\n"
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }" ::"r"(at(&bar)), "r"(rank)
            : "memory");
    wait(&bar, 0);
    y[blockIdx.x * 64 + threadIdx.x] = 1;
    cg::this_cluster().sync();
}
extern "C" __global__ void warp(int* y) {
    __shared__ u64 bar[2];
    const int w = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) init(&bar[w], 32);
    __syncwarp();
    arrive(&bar[w]);
    wait(&bar[w], 0);
    y[threadIdx.x] = 1;
}
// One thread of each row makes it (cuda-samples' globalToShmemAsyncCopy): the same value, before the barrier.
extern "C" __global__ void rows(int* y) {
    __shared__ u64 bar;
    if (threadIdx.x == 0) init(&bar, 64);
    __syncthreads();
    arrive(&bar);
    wait(&bar, 0);
    y[threadIdx.y * 16 + threadIdx.x] = 1;
}
// The last warp has nothing to do with it.
extern "C" __global__ void named(int* y) {
    __shared__ u64 bar;
    if (threadIdx.x >= 64) return;
    if (threadIdx.x == 0) init(&bar, 64);
    asm volatile("bar.sync 3, 64;" ::: "memory");
    arrive(&bar);
    wait(&bar, 0);
    y[threadIdx.x] = 1;
}
extern "C" __global__ void flag(int* y) {
    __shared__ u64 bar;
    __shared__ int ready;
    if (threadIdx.x == 0) atomicExch(&ready, 0);
    __syncthreads();
    if (threadIdx.x == 0) {
        init(&bar, 64);
        __threadfence_block();
        atomicExch(&ready, 1);
    }
    while (atomicAdd(&ready, 0) == 0) {}
    __threadfence_block();
    arrive(&bar);
    wait(&bar, 0);
    y[threadIdx.x] = 1;
}
