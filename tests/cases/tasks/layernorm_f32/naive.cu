/* kernelwright
kernels:
  - name: layernorm
    grid: ["ceil_div(M, 128)"]
    block: 128
    args: [x, gamma, beta, y, eps, M, N]
*/
extern "C" __global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, float eps, int M, int N) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    const float* row = x + (long long)r * N;
    float sum = 0.0f;
    for (int c = 0; c < N; ++c) sum += row[c];
    float mean = sum / N;
    float squares = 0.0f;
    for (int c = 0; c < N; ++c) squares += (row[c] - mean) * (row[c] - mean);
    float deviation = sqrtf(squares / N + eps);
    for (int c = 0; c < N; ++c) y[(long long)r * N + c] = (row[c] - mean) / deviation * gamma[c] + beta[c];
}
