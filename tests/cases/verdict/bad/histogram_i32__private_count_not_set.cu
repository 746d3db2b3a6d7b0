/* kernelwright
kernels:
  - {name: k, grid: [B], block: [256], args: [x, y, N]}
*/
// expect: sanitize uninitialised-read (`mine` never gets its first value)
extern "C" __global__ void k(const int* x, int* y, int N) {
    __shared__ int all;
    int mine;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < N; i += 256)
        if (x[i] == blockIdx.x) ++mine;
    atomicAdd(&all, mine);
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = all;
}
