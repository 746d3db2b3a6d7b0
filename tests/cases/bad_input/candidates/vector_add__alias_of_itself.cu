// expect-exit: 1
// expect-rule: yaml
// expect-stage: plan
// expect: an alias inside the node that it names
// parser
/* kernelwright
kernels: &k
  - *k
*/
extern "C" __global__ void vadd(const float* a, const float* b, float* y, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) y[i] = a[i] + b[i];
}
