/* kernelwright
kernels:
  - name: logsumexp_rows
    grid: ["ceil_div(M, 128)"]
    block: 128
    args: [x, y, M, N]
*/
extern "C" __global__ void logsumexp_rows(const float* x, float* y, int M, int N) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    const float* row = x + (long long)r * N;
    float m = row[0];
    for (int c = 1; c < N; ++c) m = fmaxf(m, row[c]);
    float sum = 0.0f;
    for (int c = 0; c < N; ++c) sum += expf(row[c] - m);
    y[r] = m + logf(sum);
}
