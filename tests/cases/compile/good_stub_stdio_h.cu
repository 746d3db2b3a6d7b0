// expect: pass
#include <stdio.h>
extern "C" __global__ void k(int* x) { printf("%d %f\n", x[0], 1.5); }
