// expect: ptxas-error 6
// kernel: k
// message: add.s33
extern "C" __global__ void k(int* x) {
    int y;
    asm volatile("add.s33 %0, %1, %1;" : "=r"(y) : "r"(x[0]));
    x[1] = y;
}
