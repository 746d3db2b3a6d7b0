// *y += the sum of N floats.
extern "C" __global__ void atomic_each(const float* __restrict__ x, float* __restrict__ y, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) atomicAdd(y, x[i]);
}

extern "C" __global__ void block_then_atomic(const float* __restrict__ x, float* __restrict__ y, int N) {
    __shared__ float red[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    red[t] = i < N ? x[i] : 0.0f;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) red[t] += red[t + s];
        __syncthreads();
    }
    if (t == 0) atomicAdd(y, red[0]);
}

// Few blocks that stride over everything.
extern "C" __global__ void stride_then_atomic(const float* __restrict__ x, float* __restrict__ y, int N) {
    __shared__ float red[8];
    int t = threadIdx.x;
    const float4* wide = reinterpret_cast<const float4*>(x);
    float s = 0.0f;
#pragma unroll 4
    for (int i = blockIdx.x * 256 + t; i < N / 4; i += gridDim.x * 256) {
        float4 v = wide[i];
        s += v.x + v.y + v.z + v.w;
    }
    for (int o = 16; o > 0; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
    if (t % 32 == 0) red[t / 32] = s;
    __syncthreads();
    if (t == 0) {
        for (int i = 1; i < 8; ++i) s += red[i];
        atomicAdd(y, s);
    }
}
