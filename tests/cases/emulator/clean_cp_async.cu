// buffer: x input f32 1024
// buffer: y output f32 1024
// launch: k grid=1 block=128 args=x,y
// expect: clean
#include <cuda_pipeline.h>
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ __align__(16) float s[2][512];
    int t = threadIdx.x;
    for (int b = 0; b < 2; ++b) {
        __pipeline_memcpy_async(&s[b][t * 4], &x[b * 512 + t * 4], 16);
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int i = t; i < 512; i += 128) y[i] = s[0][511 - i];
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int i = t; i < 512; i += 128) y[512 + i] = s[1][511 - i];
}
