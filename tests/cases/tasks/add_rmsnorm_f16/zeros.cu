/* kernelwright
kernels:
  - name: zero_y
    grid: ["ceil_div(M * N, 256)"]
    block: 256
    args: [y, "M * N"]
  - name: zero_h
    grid: ["ceil_div(M * N, 256)"]
    block: 256
    args: [h, "M * N"]
*/
// Writes zeros to every output.
#include <cuda_fp16.h>

extern "C" __global__ void zero_y(__half* y, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = __half(0.0f);
}

extern "C" __global__ void zero_h(__half* h, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) h[i] = __half(0.0f);
}
