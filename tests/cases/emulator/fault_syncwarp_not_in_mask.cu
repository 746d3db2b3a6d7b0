// buffer: y output f32 32
// launch: k grid=1 block=32 args=y
// expect: invalid-shuffle line 5
extern "C" __global__ void k(float* y) {
    __syncwarp(0xfffffffe);
    y[threadIdx.x] = 1.f;
}
