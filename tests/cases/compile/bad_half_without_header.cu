// expect: compile-error 3
// hint: cuda_fp16.h
extern "C" __global__ void k(__half* x) { x[0] = x[1]; }
