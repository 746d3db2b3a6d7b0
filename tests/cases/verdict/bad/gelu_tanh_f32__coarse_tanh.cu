// tanh.approx is good for 11 bits, which an f16 has and an f32 has not.
// expect: numerics
/* kernelwright
kernels:
  - {name: apply, grid: ["ceil_div(N, 256)"], block: [256], args: [x, y, N]}
*/
__device__ float coarse(float v) {
    asm("tanh.approx.f32 %0, %0;" : "+f"(v));
    return v;
}
extern "C" __global__ void apply(const float* x, float* y, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= N) return;
    float v = x[i];
    y[i] = 0.5f * v * (1.f + coarse(0.7978845608f * (v + 0.044715f * v * v * v)));
}
