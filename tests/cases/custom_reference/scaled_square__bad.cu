/* kernelwright
kernels:
  - name: k
    grid: ["ceil_div(N, 64)"]
    block: [64]
    args: [x, y, N, alpha]
*/
extern "C" __global__ void k(const float* x, float* y, int N, float alpha) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < N) y[i] = alpha * x[i] * x[i] - x[i];
}
