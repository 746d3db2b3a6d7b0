/* kernelwright
kernels:
  - name: matmul
    grid: ["ceil_div(N, 32)", "ceil_div(M, 8)"]
    block: [32, 8]
    args: [a, b, c, M, N, K]
*/
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int M, int N, int K) {
    int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
    if (i >= M || j >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += a[(size_t)i * K + k] * b[(size_t)k * N + j];
    c[(size_t)i * N + j] = sum;
}
