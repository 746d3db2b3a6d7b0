/* kernelwright
kernels:
  - {name: k, grid: [M], block: [128], args: [x, y, N]}
*/
// expect: numerics wrong-value (one pass whose running maximum starts at -1e30)
extern "C" __global__ void k(const float* x, float* y, int N) {
    __shared__ float ms[128], ss[128];
    const float* r = x + (size_t)blockIdx.x * N;
    float m = -1e30f, s = 0;
    for (int i = threadIdx.x; i < N; i += 128) {
        float n = fmaxf(m, r[i]);
        s = s * expf(m - n) + expf(r[i] - n);
        m = n;
    }
    ms[threadIdx.x] = m, ss[threadIdx.x] = s;
    __syncthreads();
    for (int o = 64; o; o >>= 1) {
        if (threadIdx.x < o) {
            float a = ms[threadIdx.x], b = ms[threadIdx.x + o], n = fmaxf(a, b);
            ss[threadIdx.x] = ss[threadIdx.x] * expf(a - n) + ss[threadIdx.x + o] * expf(b - n);
            ms[threadIdx.x] = n;
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < N; i += 128) y[(size_t)blockIdx.x * N + i] = expf(r[i] - ms[0]) / ss[0];
}
