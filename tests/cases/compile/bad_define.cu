// expect: bad-define 0
// define: A B=3
extern "C" __global__ void k(float* x) { x[0] = 1; }
