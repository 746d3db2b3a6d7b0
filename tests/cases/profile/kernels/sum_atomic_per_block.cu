/* kernelwright
scratch:
  total: {dtype: f64, shape: [1]}
kernels:
  - name: clear
    grid: 1
    block: 32
    args: [total]
  - name: sum
    grid: ["min(432, ceil_div(N, 256))"]
    block: 256
    args: [x, total, N]
  - name: store
    grid: 1
    block: 32
    args: [total, y]
*/
// The total is a double, because atomics on floats flush subnormals.
extern "C" __global__ void clear(double* total) {
    if (threadIdx.x == 0) total[0] = 0.0;
}
extern "C" __global__ void store(const double* total, float* y) {
    if (threadIdx.x == 0) y[0] = (float)total[0];
}
extern "C" __global__ void sum(const float* x, double* total, int N) {
    __shared__ float part[8];
    float v = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) v += x[i];
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w) v += part[w];
        atomicAdd(total, (double)v);
    }
}
