/* kernelwright
kernels:
  - {name: k, grid: [M], block: [32], args: [x, y, N]}
*/
// expect: numerics wrong-value (the minimum starts at 1e30)
extern "C" __global__ void k(const float* x, float* y, int N) {
    float m = 1e30f;
    for (int i = threadIdx.x; i < N; i += 32) m = fminf(m, x[(size_t)blockIdx.x * N + i]);
    for (int o = 16; o; o >>= 1) m = fminf(m, __shfl_xor_sync(~0u, m, o));
    if (threadIdx.x == 0) y[blockIdx.x] = m;
}
