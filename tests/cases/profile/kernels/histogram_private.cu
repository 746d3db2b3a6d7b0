/* kernelwright
kernels:
  - name: clear
    grid: ["ceil_div(B, 256)"]
    block: 256
    args: [y, B]
  - name: count
    grid: ["min(432, ceil_div(N, 1024))"]
    block: 256
    shared: "B * 4"
    args: [x, y, N, B]
*/
// A copy of the bins for each block.
extern "C" __global__ void clear(unsigned* y, int B) {
    int b = blockIdx.x * 256 + threadIdx.x;
    if (b < B) y[b] = 0;
}
extern "C" __global__ void count(const int* x, unsigned* y, int N, int B) {
    extern __shared__ unsigned bins[];
    for (int b = threadIdx.x; b < B; b += 256) bins[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) atomicAdd(&bins[x[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < B; b += 256)
        if (bins[b] != 0) atomicAdd(&y[b], bins[b]);
}
