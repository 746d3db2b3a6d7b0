/* kernelwright
kernels:
  - name: short_rows
    when: "N <= 1024"
    grid: [M]
    block: 256
    args: [x, gamma, beta, y, eps, N]
  - name: long_rows
    when: "N > 1024"
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

template <int Each>
__device__ void normalise(const float* row, const float* gamma, const float* beta, float* out, float eps, int N) {
    float v[Each], sum = 0.0f, squares = 0.0f;
#pragma unroll
    for (int k = 0; k < Each; ++k) {
        int c = k * 256 + threadIdx.x;
        v[k] = c < N ? row[c] : 0.0f;
        sum += v[k];
    }
    float mean = block_sum(sum) / N;
#pragma unroll
    for (int k = 0; k < Each; ++k)
        if (k * 256 + threadIdx.x < N) squares += (v[k] - mean) * (v[k] - mean);
    float scale = 1.0f / sqrtf(block_sum(squares) / N + eps);
#pragma unroll
    for (int k = 0; k < Each; ++k) {
        int c = k * 256 + threadIdx.x;
        if (c < N) out[c] = (v[k] - mean) * scale * gamma[c] + beta[c];
    }
}
extern "C" __global__ void short_rows(const float* x, const float* gamma, const float* beta, float* y, float eps, int N) {
    normalise<4>(x + (size_t)blockIdx.x * N, gamma, beta, y + (size_t)blockIdx.x * N, eps, N);
}
extern "C" __global__ void long_rows(const float* x, const float* gamma, const float* beta, float* y, float eps, int N) {
    normalise<20>(x + (size_t)blockIdx.x * N, gamma, beta, y + (size_t)blockIdx.x * N, eps, N);
}
