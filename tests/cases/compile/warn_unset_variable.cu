// expect: pass
// kernels: count
// warn: compiler-warning-549 7
// hint: initial value
extern "C" __global__ void count(const int* x, int* y) {
    int n;
    y[threadIdx.x] = n + x[threadIdx.x];
}
