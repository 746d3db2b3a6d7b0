// expect: missing-header 4
// hint: out of reach
// secret: root:
#include "/etc/passwd"
extern "C" __global__ void k(float* x) { x[0] = 1; }
