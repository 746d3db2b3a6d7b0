// buffer: x input f32 64
// buffer: y output f32 1
// launch: k grid=1 block=64 args=x,y
// expect: uninitialised-output-read line 5
extern "C" __global__ void k(const float* x, float* y) { atomicAdd(y, x[threadIdx.x]); }
