// buffer: x input f32 32
// buffer: y output f32 32
// launch: halves grid=1 block=32 args=x,y
// expect: shared-race line 11 other 8
// A __syncwarp orders the lanes of its mask, and no others.
extern "C" __global__ void halves(const float* x, float* y) {
    __shared__ float s[32];
    s[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < 16) __syncwarp(0x0000ffff);
    else __syncwarp(0xffff0000);
    y[threadIdx.x] = s[threadIdx.x ^ 16];
}
