// expect: unresolved-extern 5
// message: helper
extern "C" __device__ int helper(int);
extern "C" __global__ void k(int* x) {
    x[0] = helper(x[1]);
}
