// buffer: x input f32 32
// buffer: y output f32 32
// buffer: z output f32 32
// launch: halves grid=1 block=32 args=x,y
// launch: places grid=1 block=32 args=x,z
// expect: clean
extern "C" __global__ void halves(const float* x, float* y) {
    __shared__ float s[32];
    const unsigned mask = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
    s[threadIdx.x] = x[threadIdx.x];
    __syncwarp(mask);
    float v = s[threadIdx.x ^ 15];
    __syncwarp(mask);
    s[threadIdx.x] = v;
    __syncwarp(threadIdx.x % 16 < 8 ? mask & 0x00ff00ff : mask & 0xff00ff00);
    v = s[threadIdx.x ^ 7];
    __syncwarp();
    y[threadIdx.x] = v + s[threadIdx.x ^ 31];
}
// One barrier, reached at two places.
extern "C" __global__ void places(const float* x, float* y) {
    __shared__ float s[32];
    float v;
    if (threadIdx.x < 16) {
        s[threadIdx.x] = x[threadIdx.x];
        __syncwarp();
        v = s[threadIdx.x + 16] * 2.f;
    } else {
        s[threadIdx.x] = x[threadIdx.x] * 3.f;
        __syncwarp();
        v = s[threadIdx.x - 16] - 1.f;
    }
    y[threadIdx.x] = v;
}
