/* kernelwright
kernels:
  - name: saxpy
    grid: ["ceil_div(N, 256)"]
    block: 256
    args: [x, y, z, alpha, N]
*/
extern "C" __global__ void saxpy(const float* x, const float* y, float* z, float alpha, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) z[i] = alpha * x[i] + y[i];
}
