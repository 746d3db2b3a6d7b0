/* kernelwright
kernels:
  - {name: k, grid: ["ceil_div(N, 512)"], block: [256], args: [x, y, N]}
*/
// The second half of the last pair is never set when N is odd, and never looked at.
#include <cuda_fp16.h>
extern "C" __global__ void k(const __half* x, __half* y, int N) {
    const int i = 2 * (blockIdx.x * 256 + threadIdx.x);
    __half2 v;
    if (i < N) v.x = x[i];
    if (i + 1 < N) v.y = x[i + 1];
    v = __hmax2(v, __float2half2_rn(0.f));
    if (i < N) y[i] = v.x;
    if (i + 1 < N) y[i + 1] = v.y;
}
