/* kernelwright
kernels:
  - name: matmul
    grid: ["ceil_div(N, 32)", "ceil_div(M, 32)"]
    block: [32, 32]
    args: [a, b, c, M, N, K]
*/
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int M, int N, int K) {
    __shared__ float left[32][32], right[32][32];
    int x = threadIdx.x, y = threadIdx.y, j = blockIdx.x * 32 + x, i = blockIdx.y * 32 + y;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 32) {
        left[y][x] = i < M && k0 + x < K ? a[(size_t)i * K + k0 + x] : 0.0f;
        right[y][x] = k0 + y < K && j < N ? b[(size_t)(k0 + y) * N + j] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 32; ++k) sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    if (i < M && j < N) c[(size_t)i * N + j] = sum;
}
