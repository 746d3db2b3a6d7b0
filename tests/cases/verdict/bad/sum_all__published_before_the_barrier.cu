/* kernelwright
scratch:
  part: {dtype: f32, shape: ["8 * 256"]}
  count: {dtype: i32, shape: [1]}
kernels:
  - {name: clear, grid: [1], block: [1], args: [count]}
  - {name: k, grid: [8], block: [256], args: [x, part, count, y, N]}
*/
// expect: sanitize global-race (thread 0 takes its ticket while other warps may still be writing)
extern "C" __global__ void clear(int* count) { *count = 0; }
extern "C" __global__ void k(const float* x, float* part, int* count, float* y, int N) {
    __shared__ bool last;
    float s = 0.f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += 8 * 256) s += x[i];
    part[blockIdx.x * 256 + threadIdx.x] = s;
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(count, 1) == 7;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        float all = 0.f;
        for (int i = 0; i < 8 * 256; ++i) all += part[i];
        y[0] = all;
    }
}
