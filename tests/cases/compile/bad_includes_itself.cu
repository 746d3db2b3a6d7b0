// expect: compile-error 2
#include __FILE__
extern "C" __global__ void k(float* x) { x[0] = 1; }
