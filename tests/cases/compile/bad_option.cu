// expect: bad-option 0
// option: -I/etc
// hint: --use_fast_math
extern "C" __global__ void k(float* x) { x[0] = 1; }
