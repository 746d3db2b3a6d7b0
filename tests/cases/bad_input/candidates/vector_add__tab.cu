// expect-exit: 1
// expect-rule: yaml
// expect-stage: plan
// expect: the line is indented with a tab
// parser
/* kernelwright
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
