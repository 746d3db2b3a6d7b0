// buffer: y output f32 64
// launch: k grid=1 block=64 args=y,i:64
// expect: out-of-bounds line 8
extern "C" __global__ void k(float* y, int n) {
    __shared__ float s[63];
    int t = threadIdx.x;
    if (n > 0)
        s[t] = 1.f;
    __syncthreads();
    y[t] = s[t];
}
