// expect: pass
// warn: register-spill 5
// option: --maxrregcount=16
//
extern "C" __global__ void k(const float* __restrict__ x, float* y, int n) {
    float a[48];
#pragma unroll
    for (int i = 0; i < 48; ++i) a[i] = x[threadIdx.x + i * n];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 48; ++i) y[threadIdx.x + i * n] = a[i] * a[(i + 17) % 48];
}
