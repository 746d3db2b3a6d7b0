/* kernelwright
kernels:
  - name: sum_rows
    grid: ["ceil_div(M, 128)"]
    block: 128
    args: [x, y, M, N]
*/
extern "C" __global__ void sum_rows(const float* x, float* y, int M, int N) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    float sum = 0.0f;
    for (int c = 0; c < N; ++c) sum += x[(long long)r * N + c];
    y[r] = sum;
}
