/* kernelwright
kernels:
  - {name: k, grid: [1], block: [256], args: [x, y, N]}
*/
// expect: sanitize uninitialised-read (`s` never gets its first value)
extern "C" __global__ void k(const float* x, float* y, int N) {
    __shared__ float t[8];
    float s;
    for (int i = threadIdx.x; i < N; i += 256) s += x[i];
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x % 32 == 0) t[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        float all = 0.f;
        for (int i = 0; i < 8; ++i) all += t[i];
        y[0] = all;
    }
}
