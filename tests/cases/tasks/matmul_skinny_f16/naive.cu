/* kernelwright
kernels:
  - name: matmul
    grid: ["ceil_div(N, 128)", M]
    block: 128
    args: [a, b, c, N, K]
*/
#include <cuda_fp16.h>
extern "C" __global__ void matmul(const __half* a, const __half* b, __half* c, int N, int K) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y;
    if (j >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += __half2float(a[(long long)i * K + k]) * __half2float(b[(long long)j * K + k]);
    c[(long long)i * N + j] = __float2half(sum);
}
