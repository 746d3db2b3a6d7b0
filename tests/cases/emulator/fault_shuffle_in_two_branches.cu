// buffer: x input f32 32
// buffer: y output f32 32
// launch: k grid=1 block=32 args=x,y
// expect: invalid-shuffle
extern "C" __global__ void k(const float* x, float* y) {
    float v = x[threadIdx.x];
    if (threadIdx.x < 16) {
        v += __shfl_xor_sync(0xffffffffu, v, 1);
        y[threadIdx.x] = v;
    } else {
        v *= __shfl_xor_sync(0xffffffffu, v, 2);
        y[threadIdx.x] = v + 1.f;
    }
}
