// buffer: x input f32 64
// buffer: y output f32 64
// launch: k grid=1 block=64 args=x,y
// expect: uninitialised-read line 10
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < 60) s[t] = x[t];
    __syncthreads();
    y[t] = s[t];
}
