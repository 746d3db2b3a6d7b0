// BlockExchange and WarpExchange in every direction, BlockShuffle, BlockDiscontinuity, BlockAdjacentDifference,
// BlockHistogram by both algorithms, BlockRadixRank's digits by BlockRunLengthDecode.
// buffer: x input i32 1024 mod 61
// launch: exchange grid=1 block=64 args=x
// launch: neighbours grid=1 block=64 args=x
// launch: histogram grid=1 block=64 args=x
// expect: clean
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/warp/warp_exchange.cuh>
#define CHECK(x) if (!(x)) __trap()
constexpr int kThreads = 64, kItems = 4, kTile = kThreads * kItems;
template <bool Sliced>
__device__ void exchange_tile() {
    using Exchange = cub::BlockExchange<int, kThreads, kItems, Sliced>;
    __shared__ typename Exchange::TempStorage temp;
    int t = threadIdx.x, v[kItems], out[kItems], rank[kItems];
    auto blocked = [&](int i) { return t * kItems + i; };
    auto striped = [&](int i) { return i * kThreads + t; };
    auto warp_striped = [&](int i) { return t / 32 * 32 * kItems + i * 32 + t % 32; };
    for (int i = 0; i < kItems; ++i) v[i] = blocked(i);
    Exchange(temp).BlockedToStriped(v, out);
    for (int i = 0; i < kItems; ++i) CHECK(out[i] == striped(i));
    __syncthreads();
    Exchange(temp).StripedToBlocked(out, out);
    for (int i = 0; i < kItems; ++i) CHECK(out[i] == blocked(i));
    __syncthreads();
    Exchange(temp).BlockedToWarpStriped(v, out);
    for (int i = 0; i < kItems; ++i) CHECK(out[i] == warp_striped(i));
    __syncthreads();
    Exchange(temp).WarpStripedToBlocked(out, out);
    for (int i = 0; i < kItems; ++i) CHECK(out[i] == blocked(i));
    __syncthreads();
    for (int i = 0; i < kItems; ++i) rank[i] = kTile - 1 - blocked(i);
    Exchange(temp).ScatterToBlocked(v, out, rank);
    for (int i = 0; i < kItems; ++i) CHECK(out[i] == kTile - 1 - blocked(i));
    __syncthreads();
    Exchange(temp).ScatterToStriped(v, out, rank);
    for (int i = 0; i < kItems; ++i) CHECK(out[i] == kTile - 1 - striped(i));
    __syncthreads();
    if (!Sliced) {
        int kept[kItems], valid[kItems];
        for (int i = 0; i < kItems; ++i) {
            valid[i] = i != 2;
            kept[i] = blocked(i) / kItems * 3 + (i < 2 ? i : 2);  // three of four stay
            rank[i] = i == 2 ? -1 : kept[i];
        }
        Exchange(temp).ScatterToStripedGuarded(v, out, rank);
        for (int i = 0; i < 3; ++i) CHECK(out[i] == striped(i) / 3 * 4 + (striped(i) % 3 == 2 ? 3 : striped(i) % 3));
        __syncthreads();
        for (int i = 0; i < kItems; ++i) rank[i] = kept[i];
        Exchange(temp).ScatterToStripedFlagged(v, out, rank, valid);
        for (int i = 0; i < 3; ++i) CHECK(out[i] == striped(i) / 3 * 4 + (striped(i) % 3 == 2 ? 3 : striped(i) % 3));
        __syncthreads();
    }
}
template <cub::WarpExchangeAlgorithm A, int Lanes>
__device__ void exchange_warp() {
    using Exchange = cub::WarpExchange<int, kItems, Lanes, A>;
    __shared__ typename Exchange::TempStorage temp[kThreads / Lanes];
    int group = threadIdx.x / Lanes, lane = threadIdx.x % Lanes, v[kItems], out[kItems];
    for (int i = 0; i < kItems; ++i) v[i] = lane * kItems + i;
    Exchange(temp[group]).BlockedToStriped(v, out);
    for (int i = 0; i < kItems; ++i) CHECK(out[i] == i * Lanes + lane);
    __syncwarp();
    Exchange(temp[group]).StripedToBlocked(out, out);
    for (int i = 0; i < kItems; ++i) CHECK(out[i] == lane * kItems + i);
    __syncthreads();
}
extern "C" __global__ void exchange(const int*) {
    exchange_tile<false>();
    exchange_tile<true>();
    exchange_warp<cub::WARP_EXCHANGE_SMEM, 32>();
    exchange_warp<cub::WARP_EXCHANGE_SMEM, 8>();
    exchange_warp<cub::WARP_EXCHANGE_SHUFFLE, 4>();
}
struct Differ { template <class T> __device__ bool operator()(const T& a, const T& b) const { return a != b; } };
struct Minus { template <class T> __device__ T operator()(const T& a, const T& b) const { return a - b; } };
extern "C" __global__ void neighbours(const int* x) {
    using Heads = cub::BlockDiscontinuity<int, kThreads>;
    using Differences = cub::BlockAdjacentDifference<int, kThreads>;
    using Shuffle = cub::BlockShuffle<int, kThreads>;
    __shared__ union { typename Heads::TempStorage d; typename Differences::TempStorage a; typename Shuffle::TempStorage s; } temp;
    int t = threadIdx.x, v[kItems], heads[kItems], tails[kItems], out[kItems];
    auto at = [&](int i) { return x[i] / 7; };
    for (int i = 0; i < kItems; ++i) v[i] = at(t * kItems + i);
    Heads(temp.d).FlagHeads(heads, v, Differ());
    for (int i = 0; i < kItems; ++i) CHECK(heads[i] == (t * kItems + i == 0 || at(t * kItems + i - 1) != v[i]));
    __syncthreads();
    Heads(temp.d).FlagHeadsAndTails(heads, -1, tails, v, Differ());
    for (int i = 0; i < kItems; ++i) CHECK(tails[i] == (t * kItems + i == kTile - 1 || at(t * kItems + i + 1) != v[i]));
    __syncthreads();
    Heads(temp.d).FlagTails(tails, v, Differ());
    for (int i = 0; i < kItems; ++i) CHECK(tails[i] == (t * kItems + i == kTile - 1 || at(t * kItems + i + 1) != v[i]));
    __syncthreads();
    Differences(temp.a).SubtractLeft(v, out, Minus());
    for (int i = 0; i < kItems; ++i) CHECK(out[i] == (t * kItems + i == 0 ? v[i] : v[i] - at(t * kItems + i - 1)));
    __syncthreads();
    Differences(temp.a).SubtractRight(v, out, Minus());
    for (int i = 0; i < kItems; ++i) CHECK(out[i] == (t * kItems + i == kTile - 1 ? v[i] : v[i] - at(t * kItems + i + 1)));
    __syncthreads();
    Differences(temp.a).SubtractLeftPartialTile(v, out, Minus(), 101);
    for (int i = 0; i < kItems; ++i) CHECK(out[i] == (t * kItems + i == 0 || t * kItems + i >= 101 ? v[i] : v[i] - at(t * kItems + i - 1)));
    __syncthreads();
    int shifted = -1;
    Shuffle(temp.s).Offset(t, shifted, 3);
    if (t + 3 < kThreads) CHECK(shifted == t + 3);
    __syncthreads();
    Shuffle(temp.s).Rotate(t, shifted, 5);
    CHECK(shifted == (t + 5) % kThreads);
    __syncthreads();
    Shuffle(temp.s).Up(v, out);
    for (int i = 0; i < kItems; ++i)
        if (t * kItems + i > 0) CHECK(out[i] == at(t * kItems + i - 1));
    __syncthreads();
    Shuffle(temp.s).Down(v, out);
    for (int i = 0; i < kItems; ++i)
        if (t * kItems + i < kTile - 1) CHECK(out[i] == at(t * kItems + i + 1));
}
template <cub::BlockHistogramAlgorithm A>
__device__ void count(const int* x) {
    using Histogram = cub::BlockHistogram<unsigned char, kThreads, kItems, 64, A>;
    __shared__ typename Histogram::TempStorage temp;
    __shared__ unsigned bins[64];
    unsigned char v[kItems];
    for (int i = 0; i < kItems; ++i) v[i] = x[threadIdx.x * kItems + i];
    Histogram(temp).Histogram(v, bins);
    __syncthreads();
    unsigned expected = 0;
    for (int i = 0; i < kTile; ++i) expected += x[i] == threadIdx.x;
    CHECK(bins[threadIdx.x] == expected);
    __syncthreads();
    Histogram(temp).Composite(v, bins);
    __syncthreads();
    CHECK(bins[threadIdx.x] == 2 * expected);
    __syncthreads();
}
extern "C" __global__ void histogram(const int* x) {
    count<cub::BLOCK_HISTO_SORT>(x);
    count<cub::BLOCK_HISTO_ATOMIC>(x);
    // runs of length 1 to 3
    using Decode = cub::BlockRunLengthDecode<int, kThreads, 1, 2>;
    __shared__ typename Decode::TempStorage temp;
    int t = threadIdx.x, value[1] = {t}, length[1] = {t % 3 + 1}, total = 0;
    Decode decode(temp, value, length, total);
    CHECK(total == 64 / 3 * 6 + 1);
    for (int from = 0; from < total; from += kThreads * 2) {
        int out[2];
        decode.RunLengthDecode(out, from);
        for (int i = 0; i < 2; ++i) {
            int at = from + t * 2 + i;
            if (at >= total) continue;
            int six = at / 6 * 3, rest = at % 6;
            CHECK(out[i] == six + (rest == 0 ? 0 : rest < 3 ? 1 : 2));
        }
    }
}
