/* kernelwright
kernels:
  - {name: k, grid: [M], block: [32], args: [x, values, indices, N]}
*/
// expect: numerics wrong-value (each round's maximum starts at -1e30)
extern "C" __global__ void k(const float* x, float* values, int* indices, int N) {
    const float* r = x + (size_t)blockIdx.x * N;
    float last = INFINITY;
    int last_at = -1;
    for (int j = 0; j < 8; ++j) {
        float m = -1e30f;
        int c = 0x7fffffff;
        for (int i = threadIdx.x; i < N; i += 32) {
            float v = r[i];
            bool after = v < last || (v == last && i > last_at);
            if (after && v > m) m = v, c = i;
        }
        for (int o = 16; o; o >>= 1) {
            float q = __shfl_xor_sync(~0u, m, o);
            int d = __shfl_xor_sync(~0u, c, o);
            if (q > m || (q == m && d < c)) m = q, c = d;
        }
        if (threadIdx.x == 0) values[blockIdx.x * 8 + j] = m, indices[blockIdx.x * 8 + j] = c;
        last = m, last_at = c;
    }
}
