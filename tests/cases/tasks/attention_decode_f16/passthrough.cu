/* kernelwright
kernels:
  - name: copy_to_o
    grid: ["ceil_div(B * (G * R) * 64, 256)"]
    block: 256
    args: [q, o, "B * (G * R) * 64", "B * (G * R) * 64"]
*/
// Copies the first input, over and over if it is shorter, to every output.
#include <cuda_fp16.h>

extern "C" __global__ void copy_to_o(const __half* q, __half* o, int size, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) o[i] = q[i % size];
}
