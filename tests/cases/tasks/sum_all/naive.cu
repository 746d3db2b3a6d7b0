/* kernelwright
scratch:
  part: {dtype: f32, shape: [1024]}
kernels:
  - name: partial_sums
    grid: 4
    block: 256
    args: [x, part, N]
  - name: last_sum
    grid: 1
    block: 1
    args: [part, y]
*/
extern "C" __global__ void partial_sums(const float* x, float* part, int N) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int i = t; i < N; i += 1024) sum += x[i];
    part[t] = sum;
}

extern "C" __global__ void last_sum(const float* part, float* y) {
    float sum = 0.0f;
    for (int i = 0; i < 1024; ++i) sum += part[i];
    y[0] = sum;
}
