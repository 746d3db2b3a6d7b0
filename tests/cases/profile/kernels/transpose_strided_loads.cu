/* kernelwright
kernels:
  - name: transpose
    grid: ["ceil_div(N, 32)", "ceil_div(M, 32)"]
    block: [32, 8]
    args: [x, y, M, N]
*/
extern "C" __global__ void transpose(const float* x, float* y, int M, int N) {
    int r = blockIdx.y * 32 + threadIdx.x;
    for (int k = 0; k < 32; k += 8) {
        int c = blockIdx.x * 32 + threadIdx.y + k;
        if (r < M && c < N) y[(size_t)c * M + r] = x[(size_t)r * N + c];
    }
}
