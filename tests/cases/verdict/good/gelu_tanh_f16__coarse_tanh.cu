/* kernelwright
kernels:
  - {name: apply, grid: ["ceil_div(N, 256)"], block: [256], args: [x, y, N]}
*/
#include <cuda_fp16.h>
__device__ float coarse(float v) {
    asm("tanh.approx.f32 %0, %0;" : "+f"(v));
    return v;
}
extern "C" __global__ void apply(const __half* x, __half* y, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= N) return;
    float v = x[i];
    y[i] = 0.5f * v * (1.f + coarse(0.7978845608f * (v + 0.044715f * v * v * v)));
}
