// expect-exit: 1
// expect-stage: plan
// expect-rule: kernel-not-found
// expect: the compiled file has no kernel `vector_add`
/* kernelwright
kernels:
  - name: vector_add
    grid: ["ceil_div(N, 256)", 1, 1]
    block: [256, 1, 1]
    args: [a, b, y, N]
*/
extern "C" __global__ void vadd(const float* a, const float* b, float* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) y[i] = a[i] + b[i];
}
