/* kernelwright
kernels:
  - name: matmul
    grid: ["ceil_div(M, 32)", "ceil_div(N, 8)"]
    block: [32, 8]
    args: [a, b, c, M, N, K]
*/
// Lanes run down the rows of a and c: K and N elements apart.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int M, int N, int K) {
    int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
    if (i >= M || j >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += a[(size_t)i * K + k] * b[(size_t)k * N + j];
    c[(size_t)i * N + j] = sum;
}
