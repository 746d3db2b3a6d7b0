/* kernelwright
kernels:
  - name: gelu
    grid: ["ceil_div(N, 256)"]
    block: 256
    args: [x, y, N]
*/
#include <cuda_bf16.h>
extern "C" __global__ void gelu(const __nv_bfloat16* x, __nv_bfloat16* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float t = __bfloat162float(x[i]);
    y[i] = __float2bfloat16(t * (0.5f * erfcf(-t * 0.70710678118654752f)));
}
