// buffer: y output f32 64
// launch: k grid=1 block=32 args=null,y
// expect: null-access line 4
extern "C" __global__ void k(const float* a, float* y) { y[threadIdx.x] = a[threadIdx.x]; }
