/* kernelwright
kernels:
  - name: k
    grid: [M]
    block: [32]
    args: [x, y, N]
*/
extern "C" __global__ void k(const float* x, float* y, int N) {
    float s = 0.f;
    for (int c = threadIdx.x; c < N; c += 32) s += x[(size_t)blockIdx.x * N + c] * x[(size_t)blockIdx.x * N + c];
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
    if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(s);
}
