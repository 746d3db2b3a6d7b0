// expect-exit: 1
// expect-rule: bad-tensormap
// expect-stage: plan
// expect: the tensor map `tm`: a row of the box has 12 bytes: a multiple of 16 is needed
/* kernelwright
target: sm_90
tensormaps:
  tm: {tensor: a, box: [3]}
kernels:
  - {name: vadd, grid: ["ceil_div(N, 256)"], block: [256], args: [tm, b, y, N]}
*/
#include <cuda.h>
extern "C" __global__ void vadd(const __grid_constant__ CUtensorMap tm, const float* b, float* y, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) y[i] = b[i];
}
