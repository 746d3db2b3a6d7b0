/* kernelwright
when: "N <= 16384"
kernels:
  - {name: softmax, grid: [M], block: [32], args: [x, y, N]}
*/
/* kernelwright
kernels:
  - {name: softmax, grid: [M], block: [64], args: [x, y, N]}
*/
// expect-note: plan-never-launched
// The second plan is the rest that the guard leaves: none of the page's shapes.
extern "C" __global__ void softmax(const float* x, float* y, int N) {
    const float* row = x + (size_t)blockIdx.x * N;
    float m = -INFINITY, sum = 0;
    for (int c = threadIdx.x % 32; c < N; c += 32) m = fmaxf(m, row[c]);
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    for (int c = threadIdx.x % 32; c < N; c += 32) sum += expf(row[c] - m);
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
    for (int c = threadIdx.x; c < N; c += blockDim.x) y[(size_t)blockIdx.x * N + c] = expf(row[c] - m) / sum;
}
