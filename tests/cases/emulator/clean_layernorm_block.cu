// buffer: x input f32 1500
// buffer: g input f32 500
// buffer: b input f32 500
// buffer: y output f32 1500
// launch: layernorm grid=3 block=256 args=x,g,b,y,i:500,f:1e-5
// expect: clean
__device__ float block_sum(float v) {
    __shared__ float ws[8];
    __shared__ float total;
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    if ((threadIdx.x & 31) == 0) ws[threadIdx.x >> 5] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < 8 ? ws[threadIdx.x] : 0.0f;
        for (int o = 4; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
        if (threadIdx.x == 0) total = v;
    }
    __syncthreads();
    v = total;
    __syncthreads();
    return v;
}
extern "C" __global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int N, float eps) {
    const float* row = x + (size_t)blockIdx.x * N;
    float s = 0.0f;
    for (int c = threadIdx.x; c < N; c += blockDim.x) s += row[c];
    float mu = block_sum(s) / N;
    float q = 0.0f;
    for (int c = threadIdx.x; c < N; c += blockDim.x) {
        float d = row[c] - mu;
        q += d * d;
    }
    float rstd = rsqrtf(block_sum(q) / N + eps);
    for (int c = threadIdx.x; c < N; c += blockDim.x)
        y[(size_t)blockIdx.x * N + c] = (row[c] - mu) * rstd * gamma[c] + beta[c];
}
