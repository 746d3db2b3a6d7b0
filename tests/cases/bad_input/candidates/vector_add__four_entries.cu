// expect-exit: 1
// expect-stage: plan
// expect-rule: wrong-type
// expect: `grid` has 4 entries; it has one to three
// parser
/* kernelwright
kernels:
  - name: vadd
    grid: [1, 2, 3, 4]
    block: [256, 1, 1]
    args: [a, b, y, N]
*/
extern "C" __global__ void vadd(const float* a, const float* b, float* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) y[i] = a[i] + b[i];
}
