// Softmax over rows of N floats, the ways that people write it.
#include <math_constants.h>

__device__ __forceinline__ float warp_max(float v) {
    for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
    return v;
}
__device__ __forceinline__ float warp_sum(float v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
    return v;
}

extern "C" __global__ void thread_per_row(const float* __restrict__ x, float* __restrict__ y, int M, int N) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    const float* row = x + (size_t)r * N;
    float m = -CUDART_INF_F;
    for (int c = 0; c < N; ++c) m = fmaxf(m, row[c]);
    float s = 0.0f;
    for (int c = 0; c < N; ++c) s += expf(row[c] - m);
    float inv = 1.0f / s;
    for (int c = 0; c < N; ++c) y[(size_t)r * N + c] = expf(row[c] - m) * inv;
}

extern "C" __global__ void warp_per_row(const float* __restrict__ x, float* __restrict__ y, int M, int N) {
    int r = blockIdx.x * blockDim.y + threadIdx.y;
    if (r >= M) return;
    const float* row = x + (size_t)r * N;
    float m = -CUDART_INF_F;
    for (int c = threadIdx.x; c < N; c += 32) m = fmaxf(m, row[c]);
    m = warp_max(m);
    float s = 0.0f;
    for (int c = threadIdx.x; c < N; c += 32) s += expf(row[c] - m);
    float inv = 1.0f / warp_sum(s);
    for (int c = threadIdx.x; c < N; c += 32) y[(size_t)r * N + c] = expf(row[c] - m) * inv;
}

extern "C" __global__ void block_tree(const float* __restrict__ x, float* __restrict__ y, int M, int N) {
    __shared__ float red[256];
    const int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * N;
    float m = -CUDART_INF_F;
    for (int c = t; c < N; c += 256) m = fmaxf(m, row[c]);
    red[t] = m;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) red[t] = fmaxf(red[t], red[t + s]);
        __syncthreads();
    }
    m = red[0];
    __syncthreads();
    float sum = 0.0f;
    for (int c = t; c < N; c += 256) sum += expf(row[c] - m);
    red[t] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) red[t] += red[t + s];
        __syncthreads();
    }
    float inv = 1.0f / red[0];
    for (int c = t; c < N; c += 256) y[(size_t)blockIdx.x * N + c] = expf(row[c] - m) * inv;
}

// Each thread keeps its part of a row of 4096 in registers: one read, one exponential.
extern "C" __global__ void block_registers(const float* __restrict__ x, float* __restrict__ y, int M, int N) {
    __shared__ float red[8];
    const int t = threadIdx.x;
    const float4* row = reinterpret_cast<const float4*>(x + (size_t)blockIdx.x * N);
    float4* out = reinterpret_cast<float4*>(y + (size_t)blockIdx.x * N);
    float4 v[4];
    float m = -CUDART_INF_F;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        v[i] = row[i * 256 + t];
        m = fmaxf(m, fmaxf(fmaxf(v[i].x, v[i].y), fmaxf(v[i].z, v[i].w)));
    }
    m = warp_max(m);
    if (t % 32 == 0) red[t / 32] = m;
    __syncthreads();
    m = red[0];
    for (int i = 1; i < 8; ++i) m = fmaxf(m, red[i]);
    float s = 0.0f;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        v[i].x = expf(v[i].x - m);
        v[i].y = expf(v[i].y - m);
        v[i].z = expf(v[i].z - m);
        v[i].w = expf(v[i].w - m);
        s += v[i].x + v[i].y + v[i].z + v[i].w;
    }
    s = warp_sum(s);
    __syncthreads();
    if (t % 32 == 0) red[t / 32] = s;
    __syncthreads();
    s = red[0];
    for (int i = 1; i < 8; ++i) s += red[i];
    float inv = 1.0f / s;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        v[i].x *= inv;
        v[i].y *= inv;
        v[i].z *= inv;
        v[i].w *= inv;
        out[i * 256 + t] = v[i];
    }
}
