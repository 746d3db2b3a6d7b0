// buffer: p scratch i32 256
// buffer: n inout i32 8
// buffer: y output i32 4
// launch: k grid=4 block=64 args=p,n,y
// expect: clean
// Within a block its scope is enough: fences, atomics and flags, in shared and in global memory.
#include <cuda/atomic>
extern "C" __global__ void k(int* p, int* n, int* y) {
    __shared__ int sum;
    const int t = threadIdx.x, b = blockIdx.x;
    if (t == 0) sum = 0;
    __syncthreads();
    atomicAdd_block(&sum, t);
    p[b * 64 + t] = t;
    __syncwarp();
    if (t == 32) {
        __threadfence_block();
        atomicAdd_block(n + b, 1);
        cuda::atomic_ref<int, cuda::thread_scope_block> second(n[4 + b]);
        p[b * 64 + 63] = 1;
        second.store(1, cuda::memory_order_release);
    }
    if (t == 0) {
        while (*(volatile int*)(n + b) == 0) {}
        __threadfence_block();
        int seen = p[b * 64 + 40];
        cuda::atomic_ref<int, cuda::thread_scope_block> second(n[4 + b]);
        while (second.load(cuda::memory_order_acquire) == 0) {}
        y[b] = seen + p[b * 64 + 63];
    }
}
