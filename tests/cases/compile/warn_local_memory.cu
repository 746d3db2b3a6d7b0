// expect: pass
// warn: local-memory 5
// warn: compiler-warning-177 6
// kernels: k
extern "C" __global__ void k(float* x, int n) {
    float unused_here;
    float a[300];
    for (int i = 0; i < 300; ++i) a[i] = x[i];
    for (int i = 0; i < n; ++i) x[i] = a[(i * 7) % 300];
}
