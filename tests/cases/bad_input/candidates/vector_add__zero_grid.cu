// expect-exit: 1
// expect-stage: plan
// expect-rule: bad-grid
// expect: entry 1 of the grid of `vadd` is 0
/* kernelwright
kernels:
  - name: vadd
    grid: ["N / 256"]
    block: [256, 1, 1]
    args: [a, b, y, N]
*/
extern "C" __global__ void vadd(const float* a, const float* b, float* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) y[i] = a[i] + b[i];
}
