/* kernelwright
kernels:
  - name: matmul
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"]
    block: [16, 16]
    args: [a, b, c, M, N, K]
*/
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int M, int N, int K) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= M || j >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += a[(long long)i * K + k] * b[(long long)k * N + j];
    c[(long long)i * N + j] = sum;
}
