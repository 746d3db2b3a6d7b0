// expect-exit: 1
// expect-stage: plan
// expect-rule: cyclic-scratch
// expect: the shape of the scratch buffer `p` depends on the scratch buffer `q`
// parser
/* kernelwright
scratch: {p: {dtype: f32, shape: [q]}, q: {dtype: f32, shape: [p]}}
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
