/* kernelwright
kernels:
  - name: sum
    grid: 1
    block: 256
    args: [x, y, N]
*/
__device__ float block_sum(float v) {
    __shared__ float part[8];
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < 8 ? part[threadIdx.x] : 0.0f;
    if (threadIdx.x < 32)
        for (int o = 4; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    return v;
}

extern "C" __global__ void sum(const float* x, float* y, int N) {
    float v = 0.0f;
    for (int i = threadIdx.x; i < N; i += 256) v += x[i];
    v = block_sum(v);
    if (threadIdx.x == 0) y[0] = v;
}
