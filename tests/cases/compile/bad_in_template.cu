// expect: compile-error 3 57
// related: 5
template <class T> __device__ T twice(T x) { return 2 * x.size(); }
extern "C" __global__ void k(float* x) {
    x[0] = twice(x[1]);
}
