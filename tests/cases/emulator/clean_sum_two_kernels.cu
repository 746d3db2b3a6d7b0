// buffer: x input f32 5000
// buffer: part scratch f32 5
// buffer: y output f32 1
// launch: sum_part grid=5 block=256 args=x,part,i:5000
// launch: sum_final grid=1 block=128 args=part,y,i:5000
// expect: clean
__device__ float bsum(float v) {
    __shared__ float s[32];
    int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    if (!lane) s[w] = v;
    __syncthreads();
    if (w == 0) {
        v = lane < (int)(blockDim.x + 31) / 32 ? s[lane] : 0.f;
        for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    }
    return v;
}
extern "C" __global__ void sum_part(const float* x, float* part, int N) {
    float v = 0.f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) v += x[i];
    v = bsum(v);
    if (threadIdx.x == 0) part[blockIdx.x] = v;
}
extern "C" __global__ void sum_final(const float* part, float* y, int N) {
    int n = min((N + 1023) / 1024, 128);
    float v = (int)threadIdx.x < n ? part[threadIdx.x] : 0.f;
    v = bsum(v);
    if (threadIdx.x == 0) y[0] = v;
}
