// buffer: x input f32 1024
// buffer: y output f32 1024
// launch: k grid=1 block=128 args=x,y
// expect: uninitialised-read line 12
#include <cuda_pipeline.h>
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ __align__(16) float s[512];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t * 4], &x[t * 4], 16);
    __pipeline_commit();
    __syncthreads();
    for (int i = t; i < 512; i += 128) y[i] = s[511 - i];
}
