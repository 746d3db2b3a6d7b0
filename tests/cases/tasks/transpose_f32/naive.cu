/* kernelwright
kernels:
  - name: transpose
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"]
    block: [16, 16]
    args: [x, y, M, N]
*/
extern "C" __global__ void transpose(const float* x, float* y, int M, int N) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < M && c < N) y[(long long)c * M + r] = x[(long long)r * N + c];
}
