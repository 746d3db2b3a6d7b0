/* kernelwright
kernels:
  - name: vector_add
    grid: ["ceil_div(N, 256)"]
    block: 256
    args: [a, b, y, N]
*/
extern "C" __global__ void vector_add(const float* a, const float* b, float* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) y[i] = a[i] + b[i];
}
