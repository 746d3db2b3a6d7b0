// expect-exit: 1
// expect-rule: emulator-unsupported
// expect-stage: launch
// expect: clusters are not supported on the emulated GPU yet
/* kernelwright
target: sm_90
kernels:
  - {name: vadd, grid: ["2 * ceil_div(N, 512)"], block: [256], cluster: [2], args: [a, b, y, N]}
*/
extern "C" __global__ void vadd(const float* a, const float* b, float* y, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) y[i] = a[i] + b[i];
}
