// buffer: x input f32 40
// buffer: y output f32 40
// launch: k grid=1 block=64 args=x,y,i:40
// expect: clean
extern "C" __global__ void k(const float* x, float* y, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < n) s[t] = x[t];
    __syncthreads();
    float v = s[63 - t];
    if (63 - t < n && t < n) y[t] = v;
    else if (t < n) y[t] = 0.f;
}
