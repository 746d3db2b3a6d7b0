/* kernelwright
kernels:
  - name: layernorm
    grid: [M]
    block: 256
    args: [x, gamma, beta, y, eps, N]
*/
__device__ float block_sum(float v) {
    __shared__ float part[8];
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.0f;
    for (int w = 0; w < 8; ++w) v += part[w];
    return v;
}

extern "C" __global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, float eps, int N) {
    const float* row = x + (size_t)blockIdx.x * N;
    float sum = 0.0f, squares = 0.0f;
    for (int c = threadIdx.x; c < N; c += 256) sum += row[c];
    float mean = block_sum(sum) / N;
    for (int c = threadIdx.x; c < N; c += 256) squares += (row[c] - mean) * (row[c] - mean);
    float scale = 1.0f / sqrtf(block_sum(squares) / N + eps);
    for (int c = threadIdx.x; c < N; c += 256)
        y[(size_t)blockIdx.x * N + c] = (row[c] - mean) * scale * gamma[c] + beta[c];
}
