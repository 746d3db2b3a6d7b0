// target: compute_90
// buffer: y output i32 32
// launch: k grid=1 block=32 args=y
// expect: mbarrier-misuse line 9
#include <cuda/ptx>
namespace ptx = cuda::ptx;
extern "C" __global__ void k(int* y) {
    __shared__ unsigned long long bar;
    ptx::mbarrier_arrive(&bar);
    y[threadIdx.x] = 1;
}
