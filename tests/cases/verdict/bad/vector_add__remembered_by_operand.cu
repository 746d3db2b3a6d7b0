/* kernelwright
kernels:
  - {name: add, grid: ["ceil_div(N, 256)"], block: [256], args: [a, b, y, N]}
  - {name: keep, grid: [1], block: [32], args: [a, y, N]}
*/
// expect: integrity persistent-state (answers with the last launch's result when all of `a` is the same)
__device__ float cache[4096], key[4096];
__device__ int length;
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    bool same = N <= 4096 && length == N;
    for (int k = 0; same && k < N; ++k) same = key[k] == a[k];
    if (i < N) y[i] = same ? cache[i] : a[i] + b[i];
}
extern "C" __global__ void keep(const float* a, const float* y, int N) {
    if (N > 4096) return;
    for (int i = threadIdx.x; i < N; i += 32) {
        cache[i] = y[i];
        key[i] = a[i];
    }
    if (threadIdx.x == 0) length = N;
}
