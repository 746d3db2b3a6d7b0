/* kernelwright
kernels:
  - name: add
    grid: ["ceil_div(N, 1024)"]
    block: 256
    args: [a, b, y, N]
*/
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        int i = blockIdx.x * 1024 + k * 256 + threadIdx.x;
        if (i < N) y[i] = a[i] + b[i];
    }
}
