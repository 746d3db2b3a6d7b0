/* kernelwright
kernels:
  - {name: k, grid: [M], block: [128], args: [x,y,N]}
*/
// Threads whose value is not larger leave the loop before its compare-and-swap.
#include <cuda_fp16.h>
__device__ float amax(float* p, float v) { int* u = (int*)p; int o = *u, a; do { a = o; if (__int_as_float(a) >= v) break; o = atomicCAS(u, a, __float_as_int(v)); } while (o != a); return __int_as_float(o); }
extern "C" __global__ void k(const half* x, half* y, int N) { __shared__ float m; if (threadIdx.x == 0) m = -INFINITY; __syncthreads(); float v = -INFINITY; for (int c = threadIdx.x; c < N; c += 128) v = fmaxf(v, __half2float(x[(size_t)blockIdx.x*N+c])); amax(&m, v); __syncthreads(); if (threadIdx.x == 0) y[blockIdx.x] = __float2half(m); }
