// expect: pass
#include <cuda_pipeline.h>
#include <cassert>
extern "C" __global__ void k(const float4* x, float4* y) {
    __shared__ float4 s[32];
    __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[threadIdx.x] = s[threadIdx.x];
}
