/* kernelwright
kernels:
  - {name: add_norm, grid: [M], block: 128, args: [x, residual, weight, y, h, N, eps]}
*/
#include <cuda_fp16.h>
// The sum is stored first; the mean square is that of the unrounded sums, the second pass reads the stored ones.
extern "C" __global__ void add_norm(const __half* x, const __half* residual, const __half* weight, __half* y, __half* h, int N, float eps) {
    __shared__ float part[4];
    const size_t row = (size_t)blockIdx.x * N;
    float s = 0;
    for (int i = threadIdx.x; i < N; i += 128) {
        const float v = __half2float(x[row + i]) + __half2float(residual[row + i]);
        h[row + i] = __float2half(v);
        s += v * v;
    }
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    const float r = rsqrtf((part[0] + part[1] + part[2] + part[3]) / N + eps);
    for (int i = threadIdx.x; i < N; i += 128) y[row + i] = __float2half(__half2float(h[row + i]) * r * __half2float(weight[i]));
}
