/* kernelwright
kernels:
  - name: matmul
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"]
    block: [16, 16]
    args: [a, b, c, M, N, K]
*/
#include <cuda_fp16.h>
extern "C" __global__ void matmul(const __half* a, const __half* b, __half* c, int M, int N, int K) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= M || j >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += __half2float(a[(long long)i * K + k]) * __half2float(b[(long long)k * N + j]);
    c[(long long)i * N + j] = __float2half(sum);
}
