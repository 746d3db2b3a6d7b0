// buffer: x input f32 100
// buffer: y output f32 100
// launch: k grid=1 block=128 args=x,y,i:100
// expect: clean
extern "C" __global__ void k(const float* x, float* y, int n) {
    __shared__ float s[128];
    int t = threadIdx.x;
    if (t >= n) return;
    s[t] = x[t];
    __syncthreads();
    y[t] = s[n - 1 - t];
}
