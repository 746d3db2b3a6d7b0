/* kernelwright
kernels:
  - {name: add, grid: ["ceil_div(N, 256)"], block: [256], args: [a, b, y, N]}
  - {name: keep, grid: [1], block: [1], args: [a, b, y, N]}
*/
// expect: integrity persistent-state (answers with the last launch's result when the buffers are the same)
__device__ float cache[4096];
__device__ const float *key_a, *key_b;
__device__ int length;
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) y[i] = N <= 4096 && length == N && key_a == a && key_b == b ? cache[i] : a[i] + b[i];
}
extern "C" __global__ void keep(const float* a, const float* b, const float* y, int N) {
    if (N > 4096) return;
    for (int i = 0; i < N; ++i) cache[i] = y[i];
    length = N;
    key_a = a;
    key_b = b;
}
