// expect: pass
#include <assert.h>
extern "C" __global__ void k(int* x, int n) { assert(n > 0); x[0] = n; }
