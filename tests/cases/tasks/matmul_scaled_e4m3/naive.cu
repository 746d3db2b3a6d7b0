/* kernelwright
kernels:
  - name: matmul
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"]
    block: [16, 16]
    args: [a, b, scale_a, scale_b, c, M, N, K]
*/
#include <cuda_fp8.h>
extern "C" __global__ void matmul(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, const float* scale_a, const float* scale_b, float* c,
                                  int M, int N, int K) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= M || j >= N) return;
    int blocks = K / 32;
    float sum = 0.0f;
    for (int q = 0; q < blocks; ++q) {
        float part = 0.0f;
        for (int k = q * 32; k < q * 32 + 32; ++k) part += float(a[(long long)i * K + k]) * float(b[(long long)k * N + j]);
        sum += scale_a[i * blocks + q] * scale_b[(long long)q * N + j] * part;
    }
    c[(long long)i * N + j] = sum;
}
