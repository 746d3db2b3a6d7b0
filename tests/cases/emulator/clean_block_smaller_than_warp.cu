// buffer: x input f32 20
// buffer: y output f32 1
// launch: k grid=1 block=20 args=x,y
// expect: clean
extern "C" __global__ void k(const float* x, float* y) {
    float v = x[threadIdx.x];
    for (int o = 16; o; o >>= 1) {
        float u = __shfl_down_sync(0xffffffffu, v, o);
        if (threadIdx.x + o < 20) v += u;
    }
    if (threadIdx.x == 0) y[0] = v;
}
