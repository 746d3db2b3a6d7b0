// buffer: x input f32 256
// buffer: y output f32 1
// launch: k grid=1 block=256 args=x,y
// expect: shared-race line 11 other 8
// also: uninitialised-read
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ float red[256];
    int t = threadIdx.x; red[t] = x[t];
    // no barrier here
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) red[t] += red[t + s];
        __syncthreads();
    }
    if (t == 0) y[0] = red[0];
}
