/* kernelwright
kernels:
  - {name: rows, grid: [M], block: [32], args: [x, w, y, M, N]}
*/
extern "C" __global__ void rows(const float* x, const float* w, float* y, int M, int N) {
    size_t row = (size_t)blockIdx.x * N;
    double s = 0;
    for (int c = threadIdx.x; c < N; c += 32) s += (double)w[c] * x[row + c];
    for (int o = 16; o > 0; o /= 2) s += __shfl_down_sync(~0u, s, o);
    if (threadIdx.x == 0) y[blockIdx.x] = s;
}
