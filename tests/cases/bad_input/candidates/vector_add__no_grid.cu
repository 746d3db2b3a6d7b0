// expect-exit: 1
// expect-stage: plan
// expect-rule: missing-key
// expect: the kernel `vadd` has no `grid`
// parser
/* kernelwright
kernels:
  - name: vadd
    block: [256, 1, 1]
    args: [a, b, y, N]
*/
extern "C" __global__ void vadd(const float* a, const float* b, float* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) y[i] = a[i] + b[i];
}
