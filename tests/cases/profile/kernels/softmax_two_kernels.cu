/* kernelwright
scratch:
  stats: {dtype: f32, shape: [M, 2]}
kernels:
  - name: statistics
    grid: [M]
    block: 256
    args: [x, stats, N]
  - name: normalise
    grid: ["ceil_div(N, 256)", M]
    block: 256
    args: [x, stats, y, N]
*/
__device__ float block_reduce(float v, bool max) {
    __shared__ float part[8];
    for (int o = 16; o > 0; o >>= 1) {
        float w = __shfl_xor_sync(0xffffffffu, v, o);
        v = max ? fmaxf(v, w) : v + w;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = part[0];
    for (int w = 1; w < 8; ++w) v = max ? fmaxf(v, part[w]) : v + part[w];
    return v;
}

extern "C" __global__ void statistics(const float* x, float* stats, int N) {
    const float* row = x + (size_t)blockIdx.x * N;
    float m = -INFINITY, sum = 0.0f;
    for (int c = threadIdx.x; c < N; c += 256) m = fmaxf(m, row[c]);
    m = block_reduce(m, true);
    for (int c = threadIdx.x; c < N; c += 256) sum += expf(row[c] - m);
    sum = block_reduce(sum, false);
    if (threadIdx.x == 0) {
        stats[2 * blockIdx.x] = m;
        stats[2 * blockIdx.x + 1] = 1.0f / sum;
    }
}
extern "C" __global__ void normalise(const float* x, const float* stats, float* y, int N) {
    int c = blockIdx.x * 256 + threadIdx.x;
    if (c >= N) return;
    size_t at = (size_t)blockIdx.y * N + c;
    y[at] = expf(x[at] - stats[2 * blockIdx.y]) * stats[2 * blockIdx.y + 1];
}
