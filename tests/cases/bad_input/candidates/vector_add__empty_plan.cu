// expect-exit: 1
// expect-stage: plan
// expect-rule: wrong-type
// expect: a launch plan must be a map of keys, not nothing
// parser
/* kernelwright */
extern "C" __global__ void vadd(const float* a, const float* b, float* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) y[i] = a[i] + b[i];
}
