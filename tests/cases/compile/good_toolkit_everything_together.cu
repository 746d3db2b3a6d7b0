// expect: pass
// The stubs beside libc++'s own definitions of the same names, in both orders of inclusion.
#include <cstdint>
#include <climits>
#include <cfloat>
#include <cmath>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <algorithm>
#include <limits>
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/std/cmath>
#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <cuda/std/type_traits>
#include <cuda_fp16.h>
#include <cub/block/block_reduce.cuh>
#include <stdint.h>
#include <math.h>
#include <cuda.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(float* x, int n) {
    using Reduce = cub::BlockReduce<float, 128>;
    __shared__ typename Reduce::TempStorage storage;
    float v = threadIdx.x < n ? x[threadIdx.x] : -INFINITY;
    float sum = Reduce(storage).Sum(v);
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    if (warp.thread_rank() == 0) x[0] = sum + cuda::std::numeric_limits<float>::max() + (NAN == NAN) + std::fabs(v);
    static_assert(std::is_same_v<int32_t, cuda::std::int32_t>, "");
}
