/* kernelwright
kernels:
  - name: relu
    grid: ["ceil_div(N, 256)"]
    block: 256
    args: [x, y, N]
*/
#include <cuda_fp16.h>
extern "C" __global__ void relu(const __half* x, __half* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) y[i] = __half2float(x[i]) > 0.0f ? x[i] : __float2half(0.0f);
}
