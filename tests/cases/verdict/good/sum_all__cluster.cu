/* kernelwright
target: sm_90
kernels:
  - {name: clear, grid: 1, block: 1, args: [y]}
  - {name: add, grid: ["8 * max(1, min(16, N / 8192))"], block: 256, cluster: [8], args: [x, y, N]}
*/
// The blocks of a cluster add up in the shared memory of the first one.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void clear(float* y) { *y = 0; }
extern "C" __global__ void add(const float* x, float* y, int N) {
    __shared__ float parts[8][8];  // of the first block: by block and warp
    auto cluster = cg::this_cluster();
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) s += x[i];
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    cluster.sync();  // the first block has started
    if (threadIdx.x % 32 == 0) *cluster.map_shared_rank(&parts[cluster.block_rank()][threadIdx.x / 32], 0) = s;
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        float all = 0;
        for (int b = 0; b < 8; ++b)
            for (int w = 0; w < 8; ++w) all += parts[b][w];
        atomicAdd(y, all);
    }
}
