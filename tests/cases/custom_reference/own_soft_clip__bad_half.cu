/* kernelwright
kernels:
  - {name: clip, grid: ["ceil_div(N, 256)", "min(M, 65535)"], block: [256], args: [x, bias, r, y, M, N, limit, slope]}
*/
#include <cuda_fp16.h>
extern "C" __global__ void clip(const float* x, const float* bias, const float* r, float* y, int M, int N,
                                float limit, float slope) {
    int c = blockIdx.x * 256 + threadIdx.x;
    if (c >= N) return;
    float b = bias[c];
    for (int row = blockIdx.y; row < M; row += gridDim.y) {
        size_t i = (size_t)row * N + c;
        float t = x[i] + b, a = fabsf(t);
        t = __half2float(__float2half(t)); if (a > limit) t = copysignf(fmaf(slope, a - limit, limit), t);
        y[i] = t * tanhf(r[i]);
    }
}
