/* kernelwright
kernels:
  - name: argmax_rows
    grid: ["ceil_div(M, 128)"]
    block: 128
    args: [x, y, M, N]
*/
extern "C" __global__ void argmax_rows(const float* x, int* y, int M, int N) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    const float* row = x + (long long)r * N;
    int best = 0;
    for (int c = 1; c < N; ++c) {
        if (row[c] > row[best]) best = c;
    }
    y[r] = best;
}
