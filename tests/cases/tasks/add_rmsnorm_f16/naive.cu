/* kernelwright
kernels:
  - name: add_rmsnorm
    grid: ["ceil_div(M, 128)"]
    block: 128
    args: [x, residual, weight, y, h, eps, M, N]
*/
#include <cuda_fp16.h>
extern "C" __global__ void add_rmsnorm(const __half* x, const __half* residual, const __half* weight, __half* y, __half* h, float eps,
                                       int M, int N) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    long long row = (long long)r * N;
    float squares = 0.0f;
    for (int c = 0; c < N; ++c) {
        float sum = __half2float(x[row + c]) + __half2float(residual[row + c]);
        squares += sum * sum;
    }
    float root = sqrtf(squares / N + eps);
    for (int c = 0; c < N; ++c) {
        float sum = __half2float(x[row + c]) + __half2float(residual[row + c]);
        h[row + c] = __float2half(sum);
        y[row + c] = __float2half(sum / root * __half2float(weight[c]));
    }
}
