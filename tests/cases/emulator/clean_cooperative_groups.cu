// buffer: x input i32 64 mod 50
// launch: k grid=1 block=64 args=x
// expect: clean
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const int* x) {
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(warp);
    int t = threadIdx.x, v = x[t], base = t / 32 * 32;
    int sum = 0, before = 0, top = 0;
    for (int i = 0; i < 32; ++i) sum += x[base + i];
    for (int i = base; i < t; ++i) before += x[i];
    for (int i = t / 8 * 8; i < t / 8 * 8 + 8; ++i) top = max(top, x[i]);
    if (cg::reduce(warp, v, cg::plus<int>()) != sum) __trap();
    if (cg::reduce(eight, v, cg::greater<int>()) != top) __trap();
    if (cg::exclusive_scan(warp, v) != before) __trap();
    if (cg::reduce(warp, (float)v, cg::plus<float>()) != (float)sum) __trap();
    if (v & 1) {
        auto odd = cg::coalesced_threads();
        int count = cg::reduce(odd, 1, cg::plus<int>());
        if (count != odd.size()) __trap();
    }
    auto same = cg::labeled_partition(warp, v & 3);
    if (same.shfl(v, 0) % 4 != (v & 3)) __trap();
    block.sync();
    __shared__ int s[64];
    cg::memcpy_async(block, s, x, sizeof(int) * 64);
    cg::wait(block);
    if (s[63 - t] != x[63 - t]) __trap();
}
