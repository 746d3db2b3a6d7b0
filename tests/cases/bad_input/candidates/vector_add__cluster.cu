// expect-exit: 1
// expect-rule: illegal-cluster
// expect-stage: launch
// expect: a cluster of 32 blocks
/* kernelwright
target: sm_90
kernels:
  - {name: vadd, grid: ["32 * ceil_div(N, 8192)"], block: [256], cluster: [32], args: [a, b, y, N]}
*/
extern "C" __global__ void vadd(const float* a, const float* b, float* y, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) y[i] = a[i] + b[i];
}
