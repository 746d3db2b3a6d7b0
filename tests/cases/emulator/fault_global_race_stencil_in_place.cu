// buffer: y inout f32 257
// launch: k grid=1 block=256 args=y
// expect: global-race line 5
extern "C" __global__ void k(float* y) {
    y[threadIdx.x] = 0.5f * (y[threadIdx.x] + y[threadIdx.x + 1]);
}
