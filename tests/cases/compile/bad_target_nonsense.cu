// expect: unknown-target 0
// target: h100
extern "C" __global__ void k(float* x) { x[0] = 1; }
