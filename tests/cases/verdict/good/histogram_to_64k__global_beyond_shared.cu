/* kernelwright
when: "B <= 8192"
kernels:
  - name: zero
    grid: ["ceil_div(B, 256)", 1, 1]
    block: [256, 1, 1]
    args: [y, B]
  - name: hist_shared
    grid: ["min(32, ceil_div(N, 1024))", 1, 1]
    block: [256, 1, 1]
    shared: "B * 4"
    args: [x, y, N, B]
*/
/* kernelwright
kernels:
  - name: zero
    grid: ["ceil_div(B, 256)", 1, 1]
    block: [256, 1, 1]
    args: [y, B]
  - name: hist_global
    grid: ["ceil_div(N, 256)", 1, 1]
    block: [256, 1, 1]
    args: [x, y, N]
*/
extern "C" __global__ void zero(unsigned* y, int B) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < B) y[i] = 0u;
}
extern "C" __global__ void hist_shared(const int* __restrict__ x, unsigned* y, int N, int B) {
    extern __shared__ unsigned bins[];
    for (int b = threadIdx.x; b < B; b += blockDim.x) bins[b] = 0u;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) atomicAdd(&bins[x[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < B; b += blockDim.x)
        if (bins[b]) atomicAdd(&y[b], bins[b]);
}
extern "C" __global__ void hist_global(const int* x, unsigned* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) atomicAdd(&y[x[i]], 1u);
}
