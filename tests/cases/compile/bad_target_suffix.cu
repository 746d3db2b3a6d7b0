// expect: unknown-target 0
// target: sm_80a
extern "C" __global__ void k(float* x) { x[0] = 1; }
