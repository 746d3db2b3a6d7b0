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

// Each element's exponential is taken again for each of sixteen slices of the sum.
extern "C" __global__ void softmax(const float* x, float* y, int N) {
    const float* row = x + (size_t)blockIdx.x * N;
    float m = -INFINITY;
    for (int c = threadIdx.x; c < N; c += 256) m = fmaxf(m, row[c]);
    m = block_reduce(m, true);
    float sum = 0.0f;
    for (int c = threadIdx.x; c < N; c += 256) {
        float v = row[c] - m;
#pragma unroll
        for (int k = 0; k < 16; ++k) sum += __expf(v - 0.01f * k) * __expf(0.01f * k) * 0.0625f;
    }
    float scale = 1.0f / block_reduce(sum, false);
    for (int c = threadIdx.x; c < N; c += 256) y[(size_t)blockIdx.x * N + c] = __expf(row[c] - m) * scale;
}
