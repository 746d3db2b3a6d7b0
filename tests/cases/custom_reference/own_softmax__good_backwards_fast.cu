/* kernelwright
kernels:
  - {name: rows, grid: [M], block: [1], args: [x, y, M, N]}
*/
extern "C" __global__ void rows(const float* x, float* y, int M, int N) {
    x += (size_t)blockIdx.x * N;
    y += (size_t)blockIdx.x * N;
    float m = -INFINITY;
    for (int c = 0; c < N; ++c) m = fmaxf(m, x[c]);
    float s = 0;
    for (int c = N - 1; c >= 0; --c) s += __expf(x[c] - m);
    for (int c = 0; c < N; ++c) y[c] = __fdividef(__expf(x[c] - m), (float)s);
}
