// expect: pass
#include <limits.h>
extern "C" __global__ void k(int* x, long* y) { x[0] = INT_MAX ^ INT_MIN ^ SHRT_MAX ^ CHAR_BIT; y[0] = LONG_MAX; }
