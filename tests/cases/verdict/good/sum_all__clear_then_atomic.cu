/* kernelwright
kernels:
  - {name: clear, grid: 1, block: 1, args: [y]}
  - {name: add, grid: ["max(1, min(2 * sm_count, N / 1024))"], block: 256, args: [x, y, N]}
*/
extern "C" __global__ void clear(float* y) { *y = 0; }
extern "C" __global__ void add(const float* x, float* y, int N) {
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) s += x[i];
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x % 32 == 0) atomicAdd(y, s);
}
