// buffer: x input f32 5000
// buffer: part scratch f32 20
// buffer: count inout i32 1
// buffer: y output f32 1
// launch: sum grid=20 block=256 args=x,part,count,y,i:5000
// expect: clean
extern "C" __global__ void sum(const float* x, float* part, unsigned* count, float* y, int n) {
    __shared__ float s[256];
    __shared__ bool last;
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < n ? x[i] : 0.f;
    __syncthreads();
    for (int k = 128; k; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) {
        part[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        float v = 0.f;
        for (int b = t; b < gridDim.x; b += 256) v += part[b];
        s[t] = v;
        __syncthreads();
        for (int k = 128; k; k >>= 1) {
            if (t < k) s[t] += s[t + k];
            __syncthreads();
        }
        if (t == 0) y[0] = s[0];
    }
}
