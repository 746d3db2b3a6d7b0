// expect: compile-error 4
// hint: __shfl_xor_sync
extern "C" __global__ void k(float* x) {
    x[0] = __shfl_xor(x[0], 1);
}
