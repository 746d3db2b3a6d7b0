/* kernelwright
kernels:
  - name: swiglu
    grid: ["ceil_div(M * N, 256)"]
    block: 256
    args: [gate, up, y, "M * N"]
*/
#include <cuda_bf16.h>
extern "C" __global__ void swiglu(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_bfloat16* y, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float t = __bfloat162float(gate[i]);
    y[i] = __float2bfloat16(t / (1.0f + expf(-t)) * __bfloat162float(up[i]));
}
