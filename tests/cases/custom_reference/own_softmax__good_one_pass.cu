/* kernelwright
kernels:
  - {name: rows, grid: [M], block: [1], args: [x, y, M, N]}
*/
extern "C" __global__ void rows(const float* x, float* y, int M, int N) {
    x += (size_t)blockIdx.x * N;
    y += (size_t)blockIdx.x * N;
    float m = -INFINITY;
    float s = 0;
    for (int c = 0; c < N; ++c) {
        float next = fmaxf(m, x[c]);
        s = s * expf(m - next) + expf(x[c] - next);
        m = next;
    }
    for (int c = 0; c < N; ++c) y[c] = expf(x[c] - m) * (1.0f / s);
}
