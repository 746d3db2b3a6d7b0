// expect: compile-error 4 5
extern "C" __global__ void k(float* x) {
    float a = x[0]
    x[1] = a;
}
