/* kernelwright
kernels:
  - {name: rows, grid: [M], block: [1], args: [x, y, M, N]}
*/
#include <cuda_fp16.h>
extern "C" __global__ void rows(const float* x, float* y, int M, int N) {
    x += (size_t)blockIdx.x * N;
    y += (size_t)blockIdx.x * N;
    float m = -INFINITY;
    for (int c = 0; c < N; ++c) m = fmaxf(m, x[c]);
    __half s = 0;
    for (int c = 0; c < N; ++c) s = __hadd(s, __float2half(expf(x[c] - m)));
    for (int c = 0; c < N; ++c) y[c] = expf(x[c] - m) / __half2float(s);
}
