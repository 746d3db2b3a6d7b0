// Cooperative groups: tiles of every size and what they offer, coalesced, labelled and binary groups, reductions and scans of
// several types, memcpy_async, invoke_one, tiles of several warps, barriers in two parts.
// buffer: x input i32 512 mod 61
// launch: tiles grid=1 block=96 args=x
// launch: algorithms grid=1 block=64 args=x
// launch: block grid=2 block=128 args=x
// expect: clean
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
namespace cg = cooperative_groups;
#define CHECK(x) if (!(x)) __trap()
template <int N>
__device__ void tile_of(const int* x) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<N>(block);
    int t = threadIdx.x, rank = t % N, base = t - rank, v = x[t];
    CHECK(tile.size() == N && tile.num_threads() == N && tile.thread_rank() == rank);
    CHECK(tile.meta_group_size() == 96 / N && tile.meta_group_rank() == t / N);
    CHECK(tile.shfl(v, N - 1) == x[base + N - 1]);
    if (N > 1) {
        int down = tile.shfl_down(v, 1), up = tile.shfl_up(v, 1), across = tile.shfl_xor(v, N / 2);
        CHECK(down == (rank + 1 < N ? x[t + 1] : v) && up == (rank ? x[t - 1] : v) && across == x[base + (rank ^ N / 2)]);
    }
    bool odd = v & 1;
    unsigned votes = 0, same = 0;
    int sum = 0, top = 0, before = 0;
    for (int i = 0; i < N; ++i) {
        votes |= unsigned(x[base + i] & 1) << i;
        same |= unsigned(x[base + i] % 5 == v % 5) << i;
        sum += x[base + i];
        top = max(top, x[base + i]);
        if (i < rank) before += x[base + i];
    }
    CHECK(tile.ballot(odd) == votes && tile.any(odd) == (votes != 0) && tile.all(odd) == (votes == (N == 32 ? ~0u : (1u << N) - 1)));
    CHECK(tile.match_any(v % 5) == same);
    int agree;
    unsigned all = tile.match_all(v / 1000, agree);
    CHECK(agree && all == (N == 32 ? ~0u : (1u << N) - 1));
    CHECK(cg::reduce(tile, v, cg::plus<int>()) == sum && cg::reduce(tile, v, cg::greater<int>()) == top);
    CHECK(cg::inclusive_scan(tile, v) == before + v && cg::exclusive_scan(tile, v) == before);
    tile.sync();
}
extern "C" __global__ void tiles(const int* x) {
    tile_of<1>(x);
    tile_of<2>(x);
    tile_of<4>(x);
    tile_of<8>(x);
    tile_of<16>(x);
    tile_of<32>(x);
    // of a size known at run time, and of tiles
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    cg::thread_group four = cg::tiled_partition(cg::this_thread_block(), 4);
    CHECK(four.size() == 4 && four.thread_rank() == threadIdx.x % 4);
    four.sync();
    auto eight = cg::tiled_partition<8>(warp);
    CHECK(eight.meta_group_rank() == threadIdx.x % 32 / 8 && eight.shfl(int(threadIdx.x), 3) == threadIdx.x / 8 * 8 + 3);
    // the lanes that are together here, and a tile of those
    int v = x[threadIdx.x];
    if (v % 3) {
        auto here = cg::coalesced_threads();
        int count = 0, rank = 0, base = threadIdx.x / 32 * 32;
        for (int i = 0; i < 32; ++i)
            if (x[base + i] % 3) {
                if (base + i < threadIdx.x) rank += 1;
                count += 1;
            }
        CHECK(here.size() == count && here.thread_rank() == rank);
        CHECK(here.shfl_down(int(threadIdx.x), 1) >= int(threadIdx.x));
        CHECK(cg::reduce(here, 1, cg::plus<int>()) == count && cg::exclusive_scan(here, 1) == rank);
        auto part = cg::tiled_partition(here, 4);
        CHECK(part.thread_rank() == rank % 4 && part.meta_group_rank() == rank / 4);
        int elected = cg::invoke_one_broadcast(here, [&] { return int(threadIdx.x); });
        CHECK(here.shfl(elected, 0) == elected && elected / 32 == threadIdx.x / 32);
    }
    auto label = cg::labeled_partition(warp, v % 4);
    auto side = cg::binary_partition(warp, (v & 2) != 0);
    int mates = 0, others = 0, base = threadIdx.x / 32 * 32;
    for (int i = 0; i < 32; ++i) {
        mates += x[base + i] % 4 == v % 4;
        others += (x[base + i] & 2) == (v & 2);
    }
    CHECK(label.size() == mates && side.size() == others);
    CHECK(label.any(true) && side.all((v & 2) == (side.shfl(v, 0) & 2)));
}
struct Pair { int a; float b; };
struct Add { __device__ Pair operator()(Pair x, Pair y) const { return {x.a + y.a, x.b + y.b}; } };
extern "C" __global__ void algorithms(const int* x) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int t = threadIdx.x, base = t / 32 * 32, v = x[t], sum = 0, bits = -1, any = 0, parity = 0, least = 1 << 30, before = 0, most = 0;
    for (int i = 0; i < 32; ++i) {
        int w = x[base + i];
        sum += w;
        bits &= w;
        any |= w;
        parity ^= w;
        least = min(least, w);
        if (base + i < t) before += w;
        if (base + i <= t) most = max(most, w);
    }
    CHECK(cg::reduce(tile, v, cg::bit_and<int>()) == bits && cg::reduce(tile, v, cg::bit_or<int>()) == any && cg::reduce(tile, v, cg::bit_xor<int>()) == parity);
    CHECK(cg::reduce(tile, unsigned(v), cg::plus<unsigned>()) == sum && cg::reduce(tile, v, cg::less<int>()) == least);
    CHECK(cg::reduce(tile, (long long)v << 35, cg::plus<long long>()) == (long long)sum << 35);
    CHECK(cg::reduce(tile, v * 0.5f, cg::plus<float>()) == sum * 0.5f && cg::reduce(tile, v * 0.25, cg::plus<double>()) == sum * 0.25);
    Pair both = cg::reduce(tile, Pair{v, v * 2.0f}, Add());
    CHECK(both.a == sum && both.b == sum * 2.0f);
    CHECK(cg::inclusive_scan(tile, v, cg::greater<int>()) == most && cg::exclusive_scan(tile, v * 0.5f, cg::plus<float>()) == before * 0.5f);
    __shared__ int total[2], counter;
    if (t < 2) total[t] = 0;
    if (t == 0) counter = 100;
    __syncthreads();
    if (t % 32 == 0) atomicAdd(&total[t / 32], 0);
    cg::reduce_update_async(tile, *reinterpret_cast<cuda::atomic<int, cuda::thread_scope_block>*>(&total[t / 32]), v, cg::plus<int>());
    __syncthreads();
    CHECK(total[t / 32] == sum);
    if (t < 32) {
        int mine = cg::exclusive_scan_update(tile, *reinterpret_cast<cuda::atomic<int, cuda::thread_scope_block>*>(&counter), v, cg::plus<int>());
        CHECK(mine == 100 + before);
        cg::invoke_one(tile, [&] { total[0] = -1; });
        tile.sync();
        CHECK(total[0] == -1);
    }
}
extern "C" __global__ void block(const int* x) {
    __shared__ alignas(16) int s[512];
    __shared__ cg::block_tile_memory<128> scratch;
    auto block = cg::this_thread_block(scratch);
    int t = threadIdx.x;
    CHECK(block.thread_rank() == t && block.num_threads() == 128 && block.group_index().x == blockIdx.x && block.dim_threads().x == 128);
    cg::memcpy_async(block, s, x, sizeof(int) * 256);
    cg::memcpy_async(block, s + 256, x + 256, cuda::aligned_size_t<16>(sizeof(int) * 256));
    cg::wait_prior<1>(block);
    CHECK(s[255 - t] == x[255 - t]);
    cg::wait(block);
    CHECK(s[511 - t] == x[511 - t]);
    block.sync();
    s[t] = t;
    auto token = block.barrier_arrive();
    int other = x[t];
    block.barrier_wait(std::move(token));
    CHECK(s[127 - t] == 127 - t && other == x[t]);
    auto wide = cg::tiled_partition<64>(block);
    int sum = 0, before = 0;
    for (int i = t / 64 * 64; i < t / 64 * 64 + 64; ++i) {
        sum += x[i];
        if (i < t) before += x[i];
    }
    CHECK(wide.size() == 64 && wide.meta_group_rank() == t / 64);
    CHECK(cg::reduce(wide, x[t], cg::plus<int>()) == sum);
    CHECK(wide.shfl(x[t], 40) == x[t / 64 * 64 + 40] && wide.any(t % 64 == 63) && !wide.all(t % 64 == 63));
    wide.sync();
    auto grid = cg::this_grid();
    CHECK(grid.num_blocks() == 2 && grid.block_rank() == blockIdx.x && grid.thread_rank() == blockIdx.x * 128 + t);
    __shared__ int calls;
    if (t == 0) calls = 0;
    block.sync();
    cg::invoke_one(block, [&] { calls += 1; });
    block.sync();
    CHECK(calls == 1);
}
