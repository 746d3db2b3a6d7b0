// expect: pass
#include <cuda/std/cstdint>
#include <cuda/std/cmath>
#include <cuda/std/climits>
#include <stdint.h>
#include <math.h>
#include <limits.h>
extern "C" __global__ void k(float* x) { x[0] = std::exp(x[0]) + INFINITY + INT_MAX + (float)UINT64_MAX; }
