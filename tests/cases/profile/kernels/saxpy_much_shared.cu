/* kernelwright
kernels:
  - name: saxpy
    grid: ["ceil_div(N, 1024)"]
    block: 128
    shared: 80000
    args: [x, y, z, alpha, N]
*/
extern "C" __global__ void saxpy(const float* x, const float* y, float* z, float alpha, int N) {
    for (int k = 0; k < 8; ++k) {
        int i = blockIdx.x * 1024 + k * 128 + threadIdx.x;
        if (i < N) z[i] = alpha * x[i] + y[i];
    }
}
