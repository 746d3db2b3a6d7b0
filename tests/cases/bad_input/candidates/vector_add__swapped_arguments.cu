// expect-exit: 1
// expect-stage: plan
// expect-rule: argument-mismatch
// expect: is a buffer, and the kernel takes a 32-bit integer
/* kernelwright
kernels:
  - name: vadd
    grid: ["ceil_div(N, 256)", 1, 1]
    block: [256, 1, 1]
    args: [a, b, N, y]
*/
extern "C" __global__ void vadd(const float* a, const float* b, float* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) y[i] = a[i] + b[i];
}
