// buffer: y output f32 64
// launch: k grid=1 block=64 args=y
// expect: deadlock line 9
// The wait polls with a timer in its loop, so that its state never recurs.
#include <cuda/barrier>
extern "C" __global__ void k(float* y) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) init(&bar, 65); __syncthreads();
    bar.arrive_and_wait();
    y[threadIdx.x] = 1.f;
}
