/* kernelwright
kernels:
  - name: add
    grid: ["ceil_div(N, 8192)"]
    block: 256
    args: [a, b, y, N]
*/
// Every second lane does the work of two, in a loop of its own.
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
    int t = threadIdx.x;
    if (t % 2 == 0) {
        for (int k = 0; k < 32; ++k) {
            int i = blockIdx.x * 8192 + k * 256 + t;
            if (i < N) y[i] = a[i] + b[i];
        }
    } else {
        for (int k = 31; k >= 0; --k) {
            int i = blockIdx.x * 8192 + k * 256 + t;
            if (i < N) y[i] = a[i] + b[i];
        }
    }
}
