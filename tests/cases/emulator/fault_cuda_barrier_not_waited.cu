// buffer: x input i32 128 mod 50
// buffer: y output i32 128
// launch: k grid=1 block=128 args=x,y
// expect: shared-race line 15 other 13
// also: uninitialised-read
#include <cuda/barrier>
extern "C" __global__ void k(const int* x, int* y) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t == 0) init(&bar, blockDim.x);
    __syncthreads();
    s[t] = x[t];
    auto token = bar.arrive();
    y[t] = s[127 - t];
    bar.wait(std::move(token));
}
