// expect: missing-header 4
// hint: libcu++
//
#include <vector>
extern "C" __global__ void k(float* x) { x[0] = 1; }
