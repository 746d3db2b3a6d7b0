// expect-exit: 1
// expect-stage: limits
// expect-rule: 
// expect: 
/* kernelwright
kernels:
  - name: vadd
    grid: ["ceil_div(N, 256)", 1, 1]
    block: [256, 1, 1]
    args: [a, b, y, N]
*/
#include <stdio.h>
extern "C" __global__ void vadd(const float* a, const float* b, float* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) y[i] = a[i] + b[i];
    for (int k = 0; k < 1000000; ++k) printf("thread %d, step %d: nothing to see here, and at some length\n", i, k);
}
