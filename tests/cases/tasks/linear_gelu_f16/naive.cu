/* kernelwright
kernels:
  - name: linear_gelu
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"]
    block: [16, 16]
    args: [x, weight, bias, y, M, N, K]
*/
#include <cuda_fp16.h>
extern "C" __global__ void linear_gelu(const __half* x, const __half* weight, const __half* bias, __half* y, int M, int N, int K) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= M || j >= N) return;
    float t = 0.0f;
    for (int k = 0; k < K; ++k) t += __half2float(x[(long long)i * K + k]) * __half2float(weight[(long long)j * K + k]);
    t += __half2float(bias[j]);
    y[(long long)i * N + j] = __float2half(t * (0.5f * erfcf(-t * 0.70710678118654752f)));
}
