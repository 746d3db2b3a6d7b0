// expect: compile-error 4 13
extern "C" __global__ void k(float* x, int n) {
    int q = 0;
    int r = foo(n) + q;
    x[0] = r;
}
