/* kernelwright
kernels:
  - name: add
    grid: ["ceil_div(N, 16384)"]
    block: 256
    args: [a, b, y, N]
*/
// A thread's elements lie side by side, so neighbouring threads are 64 elements apart.
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
    int first = (blockIdx.x * 256 + threadIdx.x) * 64;
    for (int k = 0; k < 64; ++k) {
        int i = first + k;
        if (i < N) y[i] = a[i] + b[i];
    }
}
