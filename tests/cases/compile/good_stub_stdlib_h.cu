// expect: pass
#include <stdlib.h>
extern "C" __global__ void k(int* x, size_t n) { void* p = malloc(n); x[0] = abs(x[1]) + (p == NULL); free(p); }
// glibc's stdlib.h brings these names of sys/types.h.
extern "C" __global__ void unsigned_names(ulong* x, ushort y) { x[0] = y; }
