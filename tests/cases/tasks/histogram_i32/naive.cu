/* kernelwright
kernels:
  - name: clear
    grid: ["ceil_div(B, 256)"]
    block: 256
    args: [y, B]
  - name: count
    grid: ["ceil_div(N, 256)"]
    block: 256
    args: [x, y, N]
*/
extern "C" __global__ void clear(int* y, int B) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b < B) y[b] = 0;
}

extern "C" __global__ void count(const int* x, int* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) atomicAdd(&y[x[i]], 1);
}
