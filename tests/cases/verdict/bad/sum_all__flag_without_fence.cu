/* kernelwright
scratch:
  part: {dtype: f32, shape: [8]}
  flag: {dtype: i32, shape: [8]}
kernels:
  - {name: clear, grid: [1], block: [32], args: [flag]}
  - {name: k, grid: [8], block: [256], cooperative: true, args: [x, part, flag, y, N]}
*/
// expect: sanitize global-race (the flag is set without a fence: it may be seen before the partial sum)
extern "C" __global__ void clear(int* flag) { if (threadIdx.x < 8) flag[threadIdx.x] = 0; }
extern "C" __global__ void k(const float* x, float* part, volatile int* flag, float* y, int N) {
    __shared__ float t[8];
    float s = 0.f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += 8 * 256) s += x[i];
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x % 32 == 0) t[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 8; ++i) s += t[i];
        part[blockIdx.x] = s;
        flag[blockIdx.x] = 1;
        if (blockIdx.x == 0) {
            float all = 0.f;
            for (int b = 0; b < 8; ++b) {
                while (flag[b] == 0) {}
                all += part[b];
            }
            y[0] = all;
        }
    }
}
