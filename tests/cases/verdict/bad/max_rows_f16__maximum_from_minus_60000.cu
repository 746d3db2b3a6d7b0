/* kernelwright
kernels:
  - {name: k, grid: [M], block: [32], args: [x, y, N]}
*/
#include <cuda_fp16.h>
// expect: numerics wrong-value (the maximum starts at -60000; half goes down to -65504)
extern "C" __global__ void k(const __half* x, __half* y, int N) {
    float m = -60000.0f;
    for (int i = threadIdx.x; i < N; i += 32) m = fmaxf(m, __half2float(x[(size_t)blockIdx.x * N + i]));
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    if (threadIdx.x == 0) y[blockIdx.x] = __float2half(m);
}
