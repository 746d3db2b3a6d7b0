// expect: pass
// target: sm_90
#include <cuda_fp8.h>
extern "C" __global__ void k(__nv_fp8_e4m3* x, float* y) { y[0] = float(x[0]); x[1] = __nv_fp8_e4m3(y[1]); }
