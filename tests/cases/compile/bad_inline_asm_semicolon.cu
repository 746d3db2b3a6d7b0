// expect: ptxas-error 5
// message: mov.b32
extern "C" __global__ void k(int* x) {
    int y;
    asm volatile("mov.b32 %0, %1" : "=r"(y) : "r"(x[0]));
    x[1] = y;
}
