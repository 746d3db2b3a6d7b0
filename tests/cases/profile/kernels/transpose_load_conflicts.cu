/* kernelwright
kernels:
  - name: transpose
    grid: ["ceil_div(N, 32)", "ceil_div(M, 32)"]
    block: [32, 8]
    args: [x, y, M, N]
*/
extern "C" __global__ void transpose(const float* x, float* y, int M, int N) {
    __shared__ float tile[32][32];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (r + k < M && c < N) tile[threadIdx.y + k][threadIdx.x] = x[(size_t)(r + k) * N + c];
    __syncthreads();
    int to = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (row + k < N && to < M) y[(size_t)(row + k) * M + to] = tile[threadIdx.x][threadIdx.y + k];
}
