// buffer: x input f16 1001
// buffer: y output f16 1001
// launch: relu_h2 grid=2 block=256 args=x,y,i:1001
// expect: clean
#include <cuda_fp16.h>
extern "C" __global__ void relu_h2(const __half* __restrict__ x, __half* __restrict__ y, int N) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;   // pair index
    const __half zero = __float2half(0.0f);
    if (2 * p + 1 < N) {
        __half2 v = reinterpret_cast<const __half2*>(x)[p];
        __half lo = __low2half(v), hi = __high2half(v);
        lo = __hgt(lo, zero) ? lo : zero;
        hi = __hgt(hi, zero) ? hi : zero;
        reinterpret_cast<__half2*>(y)[p] = __halves2half2(lo, hi);
    } else if (2 * p < N) {
        __half v = x[2 * p];
        y[2 * p] = __hgt(v, zero) ? v : zero;
    }
}
