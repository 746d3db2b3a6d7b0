// expect: pass
#include <string.h>
extern "C" __global__ void k(int* x) { int y[4]; memset(y, 0, sizeof y); memcpy(x, y, sizeof y); }
