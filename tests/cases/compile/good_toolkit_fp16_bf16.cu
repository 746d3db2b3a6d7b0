// expect: pass
#include <cmath>
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void k(__half2* x, __nv_bfloat16* y, float* z) {
    x[0] = __hadd2(x[0], x[1]);
    z[0] = __bfloat162float(y[0]) + __half2float(x[0].x) + INFINITY;
}
