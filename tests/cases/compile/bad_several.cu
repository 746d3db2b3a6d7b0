// expect: compile-error 4 12
// expect: compile-error 5 12
extern "C" __global__ void k(float* x) {
    x[0] = first;
    x[1] = second;
}
