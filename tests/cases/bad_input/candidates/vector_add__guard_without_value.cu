// expect-exit: 1
// expect-rule: bad-guard
// expect-stage: plan
// expect: cannot be evaluated at N=7: division by zero
/* kernelwright
when: "1 / (N - 7)"
kernels:
  - name: vadd
    grid: ["ceil_div(N, 256)"]
    block: [256]
    args: [a, b, y, N]
*/
extern "C" __global__ void vadd(const float* a, const float* b, float* y, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) y[i] = a[i] + b[i];
}
