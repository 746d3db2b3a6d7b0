// buffer: y inout f32 1
// launch: k grid=4 block=32 args=y
// expect: global-race line 4 other 4
extern "C" __global__ void k(float* y) { atomicAdd_block(y, 1.f); }
