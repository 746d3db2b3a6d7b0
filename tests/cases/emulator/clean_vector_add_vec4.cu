// buffer: a input f32 1000
// buffer: b input f32 1000
// buffer: y output f32 1000
// launch: vadd_v4 grid=2 block=128 args=a,b,y,i:1000
// expect: clean
extern "C" __global__ void vadd_v4(const float4* __restrict__ a, const float4* __restrict__ b, float4* __restrict__ y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N / 4) {
        float4 u = a[i], v = b[i];
        y[i] = make_float4(u.x + v.x, u.y + v.y, u.z + v.z, u.w + v.w);
    }
}

extern "C" __global__ void vadd_scalar(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) y[i] = a[i] + b[i];
}
