// target: compute_90
// buffer: x input f32 64
// buffer: y output f32 64
// launch: k grid=1 block=32 args=x,y
// expect: bulk-copy line 14
#include <cuda/ptx>
namespace ptx = cuda::ptx;
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ alignas(16) float data[64];
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, data, x, 4 * 63, &bar);
    }
    y[threadIdx.x] = 0;
}
