/* kernelwright
kernels:
  - {name: k, grid: [M], block: [32], args: [x, y, N]}
*/
// expect: numerics wrong-value (the maximum starts at -1e9)
extern "C" __global__ void k(const float* x, float* y, int N) {
    const float* r = x + (size_t)blockIdx.x * N;
    float m = -1e9f, s = 0;
    for (int i = threadIdx.x; i < N; i += 32) m = fmaxf(m, r[i]);
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    for (int i = threadIdx.x; i < N; i += 32) s += expf(r[i] - m);
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x == 0) y[blockIdx.x] = m + logf(s);
}
