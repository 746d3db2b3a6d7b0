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
extern "C" __global__ void vadd(const float* a, const float* b, volatile float* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (true) {
        if (i < N) y[i] = a[i] + b[i];
    }
}
