// expect: compile-error 4 12
// message: argument types are
extern "C" __global__ void k(float* x, int n) {
    x[0] = sin(n);
}
