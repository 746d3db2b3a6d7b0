/* kernelwright
kernels:
  - name: rmsnorm
    grid: ["ceil_div(M, 128)"]
    block: 128
    args: [x, weight, y, eps, M, N]
*/
#include <cuda_bf16.h>
extern "C" __global__ void rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_bfloat16* y, float eps, int M, int N) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    const __nv_bfloat16* row = x + (long long)r * N;
    float squares = 0.0f;
    for (int c = 0; c < N; ++c) squares += __bfloat162float(row[c]) * __bfloat162float(row[c]);
    float root = sqrtf(squares / N + eps);
    for (int c = 0; c < N; ++c) {
        y[(long long)r * N + c] = __float2bfloat16(__bfloat162float(row[c]) / root * __bfloat162float(weight[c]));
    }
}
