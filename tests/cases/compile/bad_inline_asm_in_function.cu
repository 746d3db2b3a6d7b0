// expect: ptxas-error 5
// kernel: k
__device__ int odd(int x) {
    int y;
    asm volatile("bogus.u32 %0, %1;" : "=r"(y) : "r"(x));
    return y;
}
extern "C" __global__ void k(int* x) {
    x[1] = odd(x[0]);
}
