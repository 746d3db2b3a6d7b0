// buffer: x input f32 32
// buffer: y output f32 32
// launch: k grid=1 block=32 args=x,y
// expect: clean
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ float s[32];
    s[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    y[threadIdx.x] = s[31 - threadIdx.x];
}
