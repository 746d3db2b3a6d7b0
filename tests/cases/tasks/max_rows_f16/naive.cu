/* kernelwright
kernels:
  - name: max_rows
    grid: ["ceil_div(M, 128)"]
    block: 128
    args: [x, y, M, N]
*/
#include <cuda_fp16.h>
extern "C" __global__ void max_rows(const __half* x, __half* y, int M, int N) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    const __half* row = x + (long long)r * N;
    float best = __half2float(row[0]);
    for (int c = 1; c < N; ++c) best = fmaxf(best, __half2float(row[c]));
    y[r] = __float2half(best);
}
