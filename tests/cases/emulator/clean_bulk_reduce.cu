// target: compute_90
// buffer: y inout i32 64
// launch: k grid=8 block=64 args=y
// expect: clean
// value: y[0] = 36
// value: y[63] = 540
#include <cuda/ptx>
namespace ptx = cuda::ptx;
extern "C" __global__ void k(int* y) {
    __shared__ alignas(16) int data[64];
    data[threadIdx.x] = (blockIdx.x + 1) + threadIdx.x;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, y, data, sizeof(data));
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}
