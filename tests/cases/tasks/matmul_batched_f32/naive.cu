/* kernelwright
kernels:
  - name: matmul
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)", B]
    block: [16, 16]
    args: [a, b, c, M, N, K]
*/
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int M, int N, int K) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    long long n = blockIdx.z;
    if (i >= M || j >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += a[(n * M + i) * K + k] * b[(n * K + k) * N + j];
    c[(n * M + i) * N + j] = sum;
}
