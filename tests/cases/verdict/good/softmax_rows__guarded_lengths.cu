/* kernelwright
when: "N <= 1024 && N % 2 == 0"
kernels:
  - {name: k, grid: [M], block: [32], args: [x, y, N]}
*/
/* kernelwright
when: "N == 1 || N == 17 || N == 257 || N == 1031 || N == 2053 || N == 8192"
kernels:
  - {name: k, grid: [M], block: [32], args: [x, y, N]}
*/
// expect-note: shape-uncovered
extern "C" __global__ void k(const float* x, float* y, int N) {
    const float* r = x + (size_t)blockIdx.x * N;
    float m = -FLT_MAX, s = 0;
    for (int i = threadIdx.x; i < N; i += 32) m = fmaxf(m, r[i]);
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    for (int i = threadIdx.x; i < N; i += 32) s += expf(r[i] - m);
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    for (int i = threadIdx.x; i < N; i += 32) y[(size_t)blockIdx.x * N + i] = expf(r[i] - m) / s;
}
