// Every algorithm of BlockLoad and BlockStore, whole and ragged, and those of WarpLoad and WarpStore.
// buffer: x input i32 1024 mod 997
// buffer: y output i32 8192
// launch: k grid=1 block=96 args=x,y
// launch: w grid=1 block=64 args=x,y
// expect: clean
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_store.cuh>
#define CHECK(x) if (!(x)) __trap()
constexpr int kThreads = 96, kItems = 4, kTile = kThreads * kItems;
template <cub::BlockLoadAlgorithm L, cub::BlockStoreAlgorithm S>
__device__ void copy(const int* x, int* y) {
    using Load = cub::BlockLoad<int, kThreads, kItems, L>;
    using Store = cub::BlockStore<int, kThreads, kItems, S>;
    __shared__ union { typename Load::TempStorage load; typename Store::TempStorage store; } temp;
    int t = threadIdx.x, item[kItems];
    bool blocked = L != cub::BLOCK_LOAD_STRIPED;
    Load(temp.load).Load(x, item);
    for (int i = 0; i < kItems; ++i) CHECK(item[i] == x[blocked ? t * kItems + i : i * kThreads + t]);
    __syncthreads();
    Store(temp.store).Store(y, item);
    __syncthreads();
    for (int i = t; i < kTile; i += kThreads) CHECK(y[i] == x[i]);
    __syncthreads();
    int valid = kTile - 57;
    Load(temp.load).Load(x + 1, item, valid, -1);
    for (int i = 0; i < kItems; ++i) {
        int at = blocked ? t * kItems + i : i * kThreads + t;
        CHECK(item[i] == (at < valid ? x[at + 1] : -1));
    }
    __syncthreads();
    Store(temp.store).Store(y + 1, item, valid);
    __syncthreads();
    for (int i = t; i < kTile; i += kThreads)
        if (i > 0) CHECK(y[i] == x[i]);
    __syncthreads();
}
extern "C" __global__ void k(const int* x, int* y) {
    copy<cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT>(x, y);
    copy<cub::BLOCK_LOAD_STRIPED, cub::BLOCK_STORE_STRIPED>(x, y);
    copy<cub::BLOCK_LOAD_VECTORIZE, cub::BLOCK_STORE_VECTORIZE>(x, y);
    copy<cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE>(x, y);
    copy<cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>(x, y);
    copy<cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED, cub::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>(x, y);
}
template <cub::WarpLoadAlgorithm L, cub::WarpStoreAlgorithm S, int Lanes>
__device__ void copy_by_warp(const int* x, int* y) {
    using Load = cub::WarpLoad<int, kItems, L, Lanes>;
    using Store = cub::WarpStore<int, kItems, S, Lanes>;
    __shared__ union { typename Load::TempStorage load; typename Store::TempStorage store; } temp[64 / Lanes];
    int group = threadIdx.x / Lanes, lane = threadIdx.x % Lanes, base = group * Lanes * kItems, item[kItems];
    bool blocked = L != cub::WARP_LOAD_STRIPED;
    Load(temp[group].load).Load(x + base, item);
    for (int i = 0; i < kItems; ++i) CHECK(item[i] == x[base + (blocked ? lane * kItems + i : i * Lanes + lane)]);
    __syncwarp();
    int valid = Lanes * kItems - 5;
    Load(temp[group].load).Load(x + base, item, valid, -7);
    for (int i = 0; i < kItems; ++i) {
        int at = blocked ? lane * kItems + i : i * Lanes + lane;
        CHECK(item[i] == (at < valid ? x[base + at] : -7));
    }
    __syncwarp();
    Store(temp[group].store).Store(y + base, item, valid);
    __syncthreads();
    for (int i = lane; i < valid; i += Lanes) CHECK(y[base + i] == x[base + i]);
    __syncthreads();
}
extern "C" __global__ void w(const int* x, int* y) {
    copy_by_warp<cub::WARP_LOAD_DIRECT, cub::WARP_STORE_DIRECT, 32>(x, y);
    copy_by_warp<cub::WARP_LOAD_STRIPED, cub::WARP_STORE_STRIPED, 16>(x, y);
    copy_by_warp<cub::WARP_LOAD_VECTORIZE, cub::WARP_STORE_VECTORIZE, 32>(x, y);
    copy_by_warp<cub::WARP_LOAD_TRANSPOSE, cub::WARP_STORE_TRANSPOSE, 8>(x, y);
    copy_by_warp<cub::WARP_LOAD_TRANSPOSE, cub::WARP_STORE_TRANSPOSE, 32>(x, y);
}
