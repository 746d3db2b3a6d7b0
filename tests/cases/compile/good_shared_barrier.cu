// expect: pass
#include <cuda/barrier>
extern "C" __global__ void k(float* x) {
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    if (threadIdx.x == 0) init(&b, blockDim.x);
    __syncthreads();
    b.arrive_and_wait();
    x[threadIdx.x] = 1;
}
