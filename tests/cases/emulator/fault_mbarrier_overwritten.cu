// target: compute_90
// buffer: y output i32 32
// launch: k grid=1 block=32 args=y
// expect: mbarrier-misuse line 13
#include <cuda/ptx>
namespace ptx = cuda::ptx;
extern "C" __global__ void k(int* y) {
    __shared__ unsigned long long words[2];
    if (threadIdx.x == 0) ptx::mbarrier_init(&words[1], 32);
    __syncwarp();
    if (threadIdx.x == 0) words[1] = 7;
    __syncwarp();
    ptx::mbarrier_arrive(&words[1]);
    y[threadIdx.x] = 1;
}
