// buffer: x input f16 1001
// buffer: y output f16 1001
// launch: relu2 grid=2 block=256 args=x,y,i:1001
// expect: out-of-bounds
#include <cuda_fp16.h>
extern "C" __global__ void relu2(const half2* x, half2* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (N + 1) / 2) y[i] = __hmax2(x[i], __float2half2_rn(0.0f));
}
