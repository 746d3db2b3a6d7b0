// buffer: x input f32 256 mod 50
// buffer: sum inout i64 1
// buffer: halves inout f16 2
// buffer: most output f32 4
// launch: k grid=4 block=64 args=x,sum,halves,most
// expect: clean
// The loops of the CUDA C++ Programming Guide and of CUDA's own atomicAdd below sm_90 begin with a plain read.
#include <cuda_bf16.h>
__device__ double add(double* address, double value) {
    unsigned long long* bits = (unsigned long long*)address;
    unsigned long long old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}
__device__ void raise(float* address, float value) {
    int old = *(int*)address, assumed;
    do {
        assumed = old;
        if (__int_as_float(assumed) >= value) break;
        old = atomicCAS((int*)address, assumed, __float_as_int(value));
    } while (assumed != old);
}
extern "C" __global__ void k(const float* x, double* sum, __nv_bfloat16* halves, float* most) {
    __shared__ float m;
    if (threadIdx.x == 0) m = 0.f;
    __syncthreads();
    const float v = x[blockIdx.x * 64 + threadIdx.x];
    raise(&m, v);
    add(sum, v);
    atomicAdd(halves + threadIdx.x % 2, __float2bfloat16(1.f));
    __syncthreads();
    if (threadIdx.x == 0) most[blockIdx.x] = m;
}
