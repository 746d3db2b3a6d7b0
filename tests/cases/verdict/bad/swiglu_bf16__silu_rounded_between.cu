/* kernelwright
kernels:
  - {name: k, grid: ["ceil_div(M * N, 256)"], block: [256], args: [gate, up, y, "M * N"]}
*/
#include <cuda_bf16.h>
// expect: numerics wrong-value (silu(gate) is rounded to bfloat16 before the product)
extern "C" __global__ void k(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_bfloat16* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float g = __bfloat162float(gate[i]);
    __nv_bfloat16 s = __float2bfloat16(g / (1.0f + expf(-g)));
    y[i] = __float2bfloat16(__bfloat162float(s) * __bfloat162float(up[i]));
}
