// expect: static-shared-too-large 4
// hint: extern __shared__
// kernel: k
extern "C" __global__ void k(float* x, int n) {
    __shared__ float s[20000];
    s[n] = x[n];
    __syncthreads();
    x[0] = s[n + 1];
}
