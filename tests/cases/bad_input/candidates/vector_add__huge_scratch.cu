// expect-exit: 1
// expect-stage: plan
// expect-rule: bad-scratch
// expect: scratch of more than 4 GiB
/* kernelwright
scratch: {p: {dtype: f32, shape: ["N * 1099511627776"]}}
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
