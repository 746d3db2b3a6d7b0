/* kernelwright
kernels:
  - {name: rows, grid: [M], block: [1], args: [x, w, y, M, N]}
*/
extern "C" __global__ void rows(const float* x, const float* w, float* y, int M, int N) {
    size_t row = (size_t)blockIdx.x * N;
    float s = 0;
    for (int c = N - 1; c >= 0; --c) s += w[c] * x[row + c] * x[row + c];
    y[blockIdx.x] = s;
}
