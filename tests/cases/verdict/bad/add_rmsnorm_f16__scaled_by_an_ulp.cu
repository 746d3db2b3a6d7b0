/* kernelwright
kernels:
  - {name: k, grid: [M], block: 32, args: [x, residual, weight, y, h, N, eps]}
*/
#include <cuda_fp16.h>
// expect: numerics wrong-value (y is 0.1 % too large)
extern "C" __global__ void k(const __half* x, const __half* residual, const __half* weight, __half* y, __half* h, int N, float eps) {
    const size_t row = (size_t)blockIdx.x * N;
    float s = 0;
    for (int i = threadIdx.x; i < N; i += 32) {
        const float v = __half2float(x[row + i]) + __half2float(residual[row + i]);
        s += v * v;
    }
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    const float r = 1.001f / sqrtf(s / N + eps);
    for (int i = threadIdx.x; i < N; i += 32) {
        const float v = __half2float(x[row + i]) + __half2float(residual[row + i]);
        h[row + i] = __float2half(v);
        y[row + i] = __float2half(v * r * __half2float(weight[i]));
    }
}
