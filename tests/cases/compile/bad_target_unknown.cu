// expect: unknown-target 0
// target: sm_77
// hint: sm_80
extern "C" __global__ void k(float* x) { x[0] = 1; }
