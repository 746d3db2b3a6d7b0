/* kernelwright
kernels:
  - name: embedding
    grid: ["ceil_div(N * D, 256)"]
    block: 256
    args: [table, indices, y, N, D]
*/
#include <cuda_fp16.h>
extern "C" __global__ void embedding(const __half* table, const int* indices, __half* y, int N, int D) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N * D) y[i] = table[(long long)indices[i / D] * D + i % D];
}
