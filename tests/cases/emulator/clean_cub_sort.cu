// BlockRadixSort of keys and pairs of several types in both directions, BlockMergeSort, WarpMergeSort.
// buffer: x input i32 1024 mod 983
// launch: radix grid=1 block=64 args=x
// launch: merge grid=1 block=64 args=x
// expect: clean
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#define CHECK(x) if (!(x)) __trap()
constexpr int kThreads = 64, kItems = 3, kTile = kThreads * kItems;
template <class T> __device__ T key_of(int v, int i) { return T(v % 2 ? v : 0) - T(i % 3 ? v / 2 : 0); }
template <class T> __device__ bool before(T a, T b, bool down) { return down ? b < a : a < b; }
// Blocked or striped items, against the rank that each key must have among all.
template <class T>
__device__ void check(const T (&got)[kItems], const int (&came_from)[kItems], const int* x, bool down, bool striped) {
    __shared__ T keys[kTile];
    __shared__ int from[kTile];
    int t = threadIdx.x;
    for (int i = 0; i < kItems; ++i) {
        int at = striped ? i * kThreads + t : t * kItems + i;
        keys[at] = got[i];
        from[at] = came_from[i];
    }
    __syncthreads();
    for (int at = t; at < kTile; at += kThreads) {
        CHECK(keys[at] == key_of<T>(x[from[at]], from[at]));
        if (at > 0) {
            CHECK(!before(keys[at], keys[at - 1], down));
            if (keys[at] == keys[at - 1]) CHECK(from[at] > from[at - 1]);  // stable
        }
    }
    __syncthreads();
}
template <class T>
__device__ void radix_sort(const int* x) {
    using Sort = cub::BlockRadixSort<T, kThreads, kItems, int>;
    using Keys = cub::BlockRadixSort<T, kThreads, kItems>;
    __shared__ union { typename Sort::TempStorage pairs; typename Keys::TempStorage keys; } temp;
    int t = threadIdx.x, values[kItems];
    T keys[kItems], sorted[kItems];
    for (int way = 0; way < 4; ++way) {
        for (int i = 0; i < kItems; ++i) {
            values[i] = t * kItems + i;
            keys[i] = key_of<T>(x[values[i]], values[i]);
            sorted[i] = keys[i];
        }
        if (way == 0) Sort(temp.pairs).Sort(keys, values);
        if (way == 1) Sort(temp.pairs).SortDescending(keys, values);
        if (way == 2) Sort(temp.pairs).SortBlockedToStriped(keys, values);
        if (way == 3) Sort(temp.pairs).SortDescendingBlockedToStriped(keys, values);
        __syncthreads();
        check(keys, values, x, way & 1, way >= 2);
        if (way == 0) Keys(temp.keys).Sort(sorted);
        if (way == 1) Keys(temp.keys).SortDescending(sorted);
        if (way == 2) Keys(temp.keys).SortBlockedToStriped(sorted);
        if (way == 3) Keys(temp.keys).SortDescendingBlockedToStriped(sorted);
        for (int i = 0; i < kItems; ++i) CHECK(sorted[i] == keys[i]);
        __syncthreads();
    }
}
extern "C" __global__ void radix(const int* x) {
    radix_sort<int>(x);
    radix_sort<unsigned char>(x);
    radix_sort<short>(x);
    radix_sort<float>(x);
    radix_sort<unsigned long long>(x);
    radix_sort<double>(x);
    // some bits of the key only
    using Sort = cub::BlockRadixSort<unsigned, kThreads, 1, int, 5>;
    __shared__ typename Sort::TempStorage temp;
    unsigned key[1] = {unsigned(x[threadIdx.x])};
    int value[1] = {int(threadIdx.x)};
    Sort(temp).Sort(key, value, 2, 6);
    __shared__ unsigned keys[kThreads];
    keys[threadIdx.x] = key[0];
    __syncthreads();
    CHECK(key[0] == unsigned(x[value[0]]));
    if (threadIdx.x > 0) CHECK((keys[threadIdx.x - 1] >> 2 & 15) <= (key[0] >> 2 & 15));
}
struct Less { template <class T> __device__ bool operator()(const T& a, const T& b) const { return a < b; } };
extern "C" __global__ void merge(const int* x) {
    using Block = cub::BlockMergeSort<double, kThreads, kItems, int>;
    using Warp = cub::WarpMergeSort<int, kItems, 16>;
    __shared__ union { typename Block::TempStorage block; typename Warp::TempStorage warp[kThreads / 16]; } temp;
    int t = threadIdx.x, values[kItems];
    double keys[kItems];
    for (int i = 0; i < kItems; ++i) {
        values[i] = t * kItems + i;
        keys[i] = key_of<double>(x[values[i]], values[i]);
    }
    Block(temp.block).StableSort(keys, values, Less());
    __syncthreads();
    check(keys, values, x, false, false);
    for (int i = 0; i < kItems; ++i) {
        values[i] = t * kItems + i;
        keys[i] = values[i] < 100 ? key_of<double>(x[values[i]], values[i]) : 0.0;
    }
    Block(temp.block).Sort(keys, values, Less(), 100, 1e9);  // the first hundred
    __shared__ double all[kTile];
    for (int i = 0; i < kItems; ++i) all[t * kItems + i] = keys[i];
    __syncthreads();
    for (int i = t; i < 99; i += kThreads) CHECK(all[i] <= all[i + 1]);
    __syncthreads();
    int group = t / 16, lane = t % 16, k[kItems];
    for (int i = 0; i < kItems; ++i) k[i] = x[t * kItems + i];
    Warp(temp.warp[group]).Sort(k, Less());
    for (int i = 0; i + 1 < kItems; ++i) CHECK(k[i] <= k[i + 1]);
    int next = __shfl_down_sync(0xffffffff, k[0], 1, 16);
    if (lane < 15) CHECK(k[kItems - 1] <= next);
    int sum = 0, own = 0;
    for (int i = 0; i < kItems; ++i) {
        sum += k[i];
        own += x[t * kItems + i];
    }
    for (int d = 8; d; d /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, d, 16);
        own += __shfl_xor_sync(0xffffffff, own, d, 16);
    }
    CHECK(sum == own);
}
