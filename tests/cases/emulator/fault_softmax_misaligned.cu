// buffer: x input f32 303
// buffer: y output f32 303
// launch: softmax_v4 grid=3 block=128 args=x,y,i:101
// expect: misaligned-access
__device__ __forceinline__ float red(float v, bool mx) {
    __shared__ float p[4];
    for (int o = 16; o; o >>= 1) {
        float w = __shfl_xor_sync(0xffffffffu, v, o);
        v = mx ? fmaxf(v, w) : v + w;
    }
    if (threadIdx.x % 32 == 0) p[threadIdx.x / 32] = v;
    __syncthreads();
    v = mx ? fmaxf(fmaxf(p[0], p[1]), fmaxf(p[2], p[3])) : p[0] + p[1] + p[2] + p[3];
    __syncthreads();
    return v;
}
extern "C" __global__ void softmax_v4(const float* x, float* y, int N) {
    const float* row = x + (size_t)blockIdx.x * N;
    float* out = y + (size_t)blockIdx.x * N;
    int n4 = N / 4;
    float m = -3.402823466e38f, s = 0.f;
    for (int i = threadIdx.x; i < n4; i += 128) {
        float4 v = reinterpret_cast<const float4*>(row)[i];
        m = fmaxf(m, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
    for (int c = n4 * 4 + threadIdx.x; c < N; c += 128) m = fmaxf(m, row[c]);
    m = red(m, true);
    for (int i = threadIdx.x; i < n4; i += 128) {
        float4 v = reinterpret_cast<const float4*>(row)[i];
        s += expf(v.x - m) + expf(v.y - m) + expf(v.z - m) + expf(v.w - m);
    }
    for (int c = n4 * 4 + threadIdx.x; c < N; c += 128) s += expf(row[c] - m);
    s = red(s, false);
    for (int c = threadIdx.x; c < N; c += 128) out[c] = expf(row[c] - m) / s;
}
