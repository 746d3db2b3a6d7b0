// expect-exit: 1
// expect-stage: plan
// expect-rule: no-plan
// expect: the candidate has no launch plan
// parser
// /* kernelwright
// kernels: [] */
extern "C" __global__ void vadd(const float* a, const float* b, float* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) y[i] = a[i] + b[i];
}
