/* kernelwright
kernels:
  - {name: k, grid: [1], block: [256], args: [x, y, N]}
*/
// expect: integrity persistent-state (answers with the last launch's sum when N and x[0] are the same)
__device__ float key, value;
__device__ int length;
extern "C" __global__ void k(const float* x, float* y, int N) {
    __shared__ float part[256];
    const int t = threadIdx.x;
    if (length == N && key == x[0]) {
        if (t == 0) *y = value;
        return;
    }
    float sum = 0;
    for (int i = t; i < N; i += 256) sum += x[i];
    part[t] = sum;
    __syncthreads();
    for (int half = 128; half; half >>= 1) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) {
        *y = value = part[0];
        key = x[0];
        length = N;
    }
}
