/* kernelwright
kernels:
  - name: softmax
    grid: ["ceil_div(M, 4)"]
    block: [32, 4]
    args: [x, y, M, N]
*/
// A lane keeps its part of the row in an array that is indexed at run time: local memory.
extern "C" __global__ void softmax(const float* x, float* y, int M, int N) {
    int r = blockIdx.x * 4 + threadIdx.y;
    if (r >= M) return;
    const float* row = x + (size_t)r * N;
    float kept[256];
    float m = -INFINITY, sum = 0.0f;
    int n = 0;
    for (int c = threadIdx.x; c < N; c += 32, ++n) {
        kept[n] = row[c];
        m = fmaxf(m, kept[n]);
    }
    for (int o = 16; o > 0; o >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));
    for (int k = 0; k < n; ++k) {
        kept[k] = expf(kept[k] - m);
        sum += kept[k];
    }
    for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
    n = 0;
    for (int c = threadIdx.x; c < N; c += 32, ++n) y[(size_t)r * N + c] = kept[n] / sum;
}
