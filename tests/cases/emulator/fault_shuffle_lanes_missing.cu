// buffer: x input f32 32
// buffer: y output f32 32
// launch: k grid=1 block=32 args=x,y
// expect: invalid-shuffle line 9
extern "C" __global__ void k(const float* x, float* y) {
    float v = x[threadIdx.x];
    int t = threadIdx.x;
    if (t >= 20) return;
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    y[t] = v;
}
