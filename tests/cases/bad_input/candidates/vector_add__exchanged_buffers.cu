// expect-exit: 1
// expect-rule: input-write
// expect-stage: sanitize
// expect: parameter 3 `float* y` is bound to `a`
/* kernelwright
kernels:
  - name: vadd
    grid: ["ceil_div(N, 256)"]
    block: [256]
    args: [y, b, a, N]
*/
extern "C" __global__ void vadd(const float* a, const float* b, float* y, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) y[i] = a[i] + b[i];
}
