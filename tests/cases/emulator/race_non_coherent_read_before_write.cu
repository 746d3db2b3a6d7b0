// buffer: e inout f32 64
// launch: k grid=2 block=32 args=e,e
// expect: non-coherent-read line 6 other 5
extern "C" __global__ void k(const float* __restrict__ x, float* __restrict__ y) {
    float v = x[blockIdx.x * 32 + 31 - threadIdx.x];
    __syncwarp(); y[blockIdx.x * 32 + threadIdx.x] = v;
}
