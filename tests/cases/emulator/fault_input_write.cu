// buffer: x input f32 64
// buffer: y input f32 64
// launch: k grid=1 block=64 args=x,y
// expect: input-write line 6
extern "C" __global__ void k(const float* x, float* y) {
    y[threadIdx.x] += 2.f * x[threadIdx.x];
}
