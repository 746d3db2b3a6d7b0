// buffer: x input i32 64 mod 1000
// launch: k grid=1 block=64 args=x shared=256
// expect: out-of-bounds line 14
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern __shared__ int s[];
extern "C" __global__ void k(const int* x) {
    __shared__ cg::block_tile_memory<64> memory;
    auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    int total = cg::reduce(tile, s[threadIdx.x], cg::plus<int>());
    s[threadIdx.x + total % 2 + 1] = total;
}
