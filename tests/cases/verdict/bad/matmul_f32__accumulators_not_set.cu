/* kernelwright
kernels:
  - {name: k, grid: ["ceil_div(N, 32)", "ceil_div(M, 4)"], block: [32], args: [a, b, c, M, N, K]}
*/
// expect: sanitize uninitialised-read (the accumulators in registers start with whatever was there)
extern "C" __global__ void k(const float* a, const float* b, float* c, int M, int N, int K) {
    const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 4;
    if (col >= N) return;
    float sum[4];
    for (int k = 0; k < K; ++k)
        for (int r = 0; r < 4; ++r)
            if (row + r < M) sum[r] += a[(row + r) * K + k] * b[k * N + col];
    for (int r = 0; r < 4; ++r)
        if (row + r < M) c[(row + r) * N + col] = sum[r];
}
