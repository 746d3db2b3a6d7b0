/* kernelwright
kernels:
  - {name: k, grid: ["ceil_div(M * N, 256)"], block: [256], args: [gate, up, y, "M * N"]}
*/
#include <cuda_bf16.h>
// expect: numerics wrong-value (every result is 0.4 % too large)
extern "C" __global__ void k(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_bfloat16* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float g = __bfloat162float(gate[i]);
    y[i] = __float2bfloat16(1.004f * (g / (1.0f + expf(-g)) * __bfloat162float(up[i])));
}
