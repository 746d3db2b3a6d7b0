/* kernelwright
kernels:
  - name: sum_rows
    grid: [M]
    block: 256
    args: [x, y, N]
*/
extern "C" __global__ void sum_rows(const float* x, float* y, int N) {
    __shared__ float part[256];
    const float* row = x + (size_t)blockIdx.x * N;
    float v = 0.0f;
    for (int c = threadIdx.x; c < N; c += 256) v += row[c];
    part[threadIdx.x] = v;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
