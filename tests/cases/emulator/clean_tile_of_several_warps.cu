// buffer: x input i32 256 mod 1000
// launch: k grid=2 block=128 args=x
// expect: clean
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const int* x) {
    __shared__ cg::block_tile_memory<128> memory;
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<64>(block);
    const int* mine = x + blockIdx.x * 128 + threadIdx.x / 64 * 64;
    int total = 0;
    for (int i = 0; i < 64; ++i) total += mine[i];
    for (int round = 0; round < 3; ++round)
        if (cg::reduce(tile, mine[tile.thread_rank()], cg::plus<int>()) != total) __trap();
    if (tile.shfl(mine[tile.thread_rank()], 33) != mine[33]) __trap();
    if (!tile.any(tile.thread_rank() == 40)) __trap();
    tile.sync();
}
