// buffer: s scratch f32 64
// buffer: y output f32 64
// launch: k grid=1 block=64 args=s,y
// expect: uninitialised-read line 7
// A value that was never written decides a branch.
extern "C" __global__ void k(const float* s, float* y) {
    if (s[threadIdx.x] > 0.f) y[threadIdx.x] = 1.f; else { y[threadIdx.x] = 2.f; y[threadIdx.x ^ 0] *= 3.f; }
}
