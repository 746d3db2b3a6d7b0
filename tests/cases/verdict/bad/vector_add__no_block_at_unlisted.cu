/* kernelwright
kernels:
  - name: add
    grid: ["N % 4 == 2 ? 0 : ceil_div(N, 256)"]
    block: 256
    args: [a, b, y, N]
*/
// expect: plan bad-grid (no listed size leaves 2 when divided by 4)
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) y[i] = a[i] + b[i];
}
