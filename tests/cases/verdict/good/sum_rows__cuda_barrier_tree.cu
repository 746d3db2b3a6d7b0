/* kernelwright
kernels:
  - {name: k, grid: [M], block: [128], args: [x,y,N]}
*/
#include <cuda/barrier>
extern "C" __global__ void k(const float* x, float* y, int N) {
    __shared__ float w[128]; __shared__ cuda::barrier<cuda::thread_scope_block> b; int t = threadIdx.x;
    if (t == 0) init(&b, 128); __syncthreads();
    float s = 0; for (int c = t; c < N; c += 128) s += x[(size_t)blockIdx.x*N+c];
    w[t] = s; b.arrive_and_wait();
    for (int o = 64; o; o >>= 1) { if (t < o) w[t] += w[t+o]; b.arrive_and_wait(); }
    if (t == 0) y[blockIdx.x] = w[0];
}
