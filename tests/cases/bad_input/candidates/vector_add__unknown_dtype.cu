// expect-exit: 1
// expect-stage: plan
// expect-rule: unknown-dtype
// expect: unknown dtype `double` of the scratch buffer `p`
// parser
/* kernelwright
scratch: {p: {dtype: double, shape: [N]}}
kernels:
  - name: vadd
    grid: ["ceil_div(N, 256)", 1, 1]
    block: [256, 1, 1]
    args: [a, b, y, N]
*/
extern "C" __global__ void vadd(const float* a, const float* b, float* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) y[i] = a[i] + b[i];
}
