// buffer: x input f32 128
// buffer: y output f32 128
// launch: k grid=1 block=128 args=x,y
// expect: divergent-barrier line 11 other 15
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ float red[128];
    int t = threadIdx.x;
    red[t] = x[t];
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s) {
            __syncthreads();
            red[t] += red[t + s];
        }
    }
    __syncthreads();
    y[t] = red[0];
}
