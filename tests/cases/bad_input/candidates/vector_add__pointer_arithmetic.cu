// expect-exit: 1
// expect-stage: plan
// expect-rule: wrong-type
// expect: `a` is a tensor, which an expression cannot use
// parser
/* kernelwright
kernels:
  - name: vadd
    grid: ["ceil_div(N, 256)", 1, 1]
    block: [256, 1, 1]
    args: ["a + 4", b, y, N]
*/
extern "C" __global__ void vadd(const float* a, const float* b, float* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) y[i] = a[i] + b[i];
}
