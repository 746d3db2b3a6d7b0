// buffer: x input i32 128 mod 50
// buffer: y output i32 128
// launch: k grid=2 block=128 args=x,y
// expect: clean
#include <cuda/barrier>
extern "C" __global__ void k(const int* x, int* y) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t == 0) init(&bar, blockDim.x);
    __syncthreads();
    for (int round = 0; round < 3; ++round) {
        s[t] = x[t] + round;
        bar.arrive_and_wait();
        if (s[127 - t] != x[127 - t] + round) __trap();
        auto token = bar.arrive();
        bar.wait(std::move(token));
    }
    if (blockIdx.x == 0) y[t] = s[t];
}
