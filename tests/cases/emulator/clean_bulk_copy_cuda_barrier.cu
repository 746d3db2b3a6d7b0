// target: compute_90
// buffer: x input f32 1024
// buffer: y output f32 1024
// launch: k grid=4 block=128 args=x,y
// expect: clean
// value: y[5] = 2.25
// The example of the CUDA C++ Programming Guide: in by a bulk copy, one added, out by a bulk copy.
#include <cuda/barrier>
#include <cuda/ptx>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace ptx = cuda::ptx;
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ alignas(16) float data[256];
    __shared__ barrier bar;
    const int offset = blockIdx.x * 256;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::memcpy_async(data, x + offset, cuda::aligned_size_t<16>(sizeof(data)), bar);
    }
    barrier::arrival_token token = bar.arrive();
    bar.wait(std::move(token));
    for (int i = threadIdx.x; i < 256; i += blockDim.x) data[i] += 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y + offset, data, sizeof(data));
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}
