/* kernelwright
kernels:
  - {name: topk, grid: ["ceil_div(M, 4)"], block: [32, 4], args: [x, values, indices, M, N]}
*/
// Each lane keeps its eight best in registers, sorted; eight rounds of a warp maximum over the lists' heads.
extern "C" __global__ void topk(const float* x, float* values, int* indices, int M, int N) {
    const int r = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
    if (r >= M) return;
    const float* row = x + (size_t)r * N;
    float v[8];
    int c[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) v[j] = -INFINITY, c[j] = 0x7fffffff;
    for (int i = lane; i < N; i += 32) {
        float a = row[i];
        int b = i;
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            if (a > v[j] || (a == v[j] && b < c[j])) {
                const float tv = v[j];
                const int tc = c[j];
                v[j] = a, c[j] = b, a = tv, b = tc;
            }
        }
    }
    for (int j = 0; j < 8; ++j) {
        float m = v[0];
        int k = c[0];
        for (int o = 16; o; o >>= 1) {
            const float n = __shfl_xor_sync(~0u, m, o);
            const int l = __shfl_xor_sync(~0u, k, o);
            if (n > m || (n == m && l < k)) m = n, k = l;
        }
        if (c[0] == k) {
#pragma unroll
            for (int t = 0; t < 7; ++t) v[t] = v[t + 1], c[t] = c[t + 1];
            v[7] = -INFINITY, c[7] = 0x7fffffff;
        }
        if (lane == 0) values[r * 8 + j] = m, indices[r * 8 + j] = k;
    }
}
