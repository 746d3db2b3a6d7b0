/* kernelwright
kernels:
  - name: softmax
    grid: [M]
    block: 256
    args: [x, y, N]
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

extern "C" __global__ void softmax(const float* x, float* y, int N) {
    const float* row = x + (size_t)blockIdx.x * N;
    float m = -INFINITY, sum = 0.0f;
    for (int c = threadIdx.x; c < N; c += 256) m = fmaxf(m, row[c]);
    m = block_reduce(m, true);
    for (int c = threadIdx.x; c < N; c += 256) sum += exp((double)row[c] - m);
    sum = block_reduce(sum, false);
    for (int c = threadIdx.x; c < N; c += 256) y[(size_t)blockIdx.x * N + c] = exp((double)row[c] - m) / sum;
}
