/* kernelwright
kernels:
  - {name: k, grid: [M], block: [32], args: [x, y, N]}
*/
// expect: numerics wrong-value (-3e38 is not the lowest float)
extern "C" __global__ void k(const float* x, int* y, int N) {
    float m = -3e38f;
    int c = 0;
    const float* r = x + (size_t)blockIdx.x * N;
    for (int i = threadIdx.x; i < N; i += 32)
        if (r[i] > m) m = r[i], c = i;
    for (int o = 16; o; o >>= 1) {
        float q = __shfl_xor_sync(~0u, m, o);
        int d = __shfl_xor_sync(~0u, c, o);
        if (q > m || (q == m && d < c)) m = q, c = d;
    }
    if (threadIdx.x == 0) y[blockIdx.x] = c;
}
