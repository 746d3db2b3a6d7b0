// WarpReduce and WarpScan: whole and logical warps, several types, segments, partial warps.
// buffer: x input i32 256 mod 97
// launch: k grid=1 block=96 args=x
// expect: clean
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
#define CHECK(x) if (!(x)) __trap()
struct Both { int sum; double real; };
struct Join { __device__ Both operator()(Both a, Both b) const { return {a.sum + b.sum, a.real + b.real}; } };
template <int Lanes>
__device__ void reduce(const int* x) {
    using Int = cub::WarpReduce<int, Lanes>;
    using Wide = cub::WarpReduce<Both, Lanes>;
    constexpr int groups = 96 / Lanes;
    __shared__ union { typename Int::TempStorage i; typename Wide::TempStorage w; } temp[groups];
    int group = threadIdx.x / Lanes, lane = threadIdx.x % Lanes, base = group * Lanes, v = x[threadIdx.x], sum = 0, some = 0, top = 0;
    for (int i = 0; i < Lanes; ++i) {
        sum += x[base + i];
        top = max(top, x[base + i]);
        if (i < Lanes - 1) some += x[base + i];
    }
    int got = Int(temp[group].i).Sum(v);
    if (lane == 0) CHECK(got == sum);
    __syncwarp();
    got = Int(temp[group].i).Sum(v, Lanes - 1);
    if (lane == 0) CHECK(got == some);
    __syncwarp();
    got = Int(temp[group].i).Reduce(v, cuda::maximum<>{});
    if (lane == 0) CHECK(got == top);
    __syncwarp();
    Both both = Wide(temp[group].w).Reduce(Both{v, v * 0.25}, Join());
    if (lane == 0) CHECK(both.sum == sum && both.real == sum * 0.25);
    __syncwarp();
    // segments that begin where the value is a multiple of three
    bool head = v % 3 == 0, tail = lane == Lanes - 1 || x[threadIdx.x + 1] % 3 == 0;
    int segment = 0;
    for (int i = lane; i < Lanes; ++i) {
        if (i > lane && x[base + i] % 3 == 0) break;
        segment += x[base + i];
    }
    got = Int(temp[group].i).HeadSegmentedSum(v, head);
    if (head) CHECK(got == segment);
    __syncwarp();
    got = Int(temp[group].i).TailSegmentedSum(v, tail);
    if (head) CHECK(got == segment);
    __syncthreads();
}
template <int Lanes>
__device__ void scan(const int* x) {
    using Int = cub::WarpScan<int, Lanes>;
    using Wide = cub::WarpScan<Both, Lanes>;
    __shared__ union { typename Int::TempStorage i; typename Wide::TempStorage w; } temp[96 / Lanes];
    int group = threadIdx.x / Lanes, lane = threadIdx.x % Lanes, base = group * Lanes, v = x[threadIdx.x], before = 0, all = 0, top = 0;
    for (int i = 0; i < Lanes; ++i) {
        all += x[base + i];
        if (i < lane) before += x[base + i];
        if (i <= lane) top = max(top, x[base + i]);
    }
    int got, inclusive, aggregate;
    Int(temp[group].i).InclusiveSum(v, got);
    CHECK(got == before + v);
    __syncwarp();
    Int(temp[group].i).ExclusiveSum(v, got, aggregate);
    CHECK(got == before && aggregate == all);
    __syncwarp();
    Int(temp[group].i).Scan(v, inclusive, got, 5, cuda::std::plus<>{});
    CHECK(inclusive == before + v + 5 && got == before + 5);
    __syncwarp();
    Int(temp[group].i).InclusiveScan(v, got, cuda::maximum<>{});
    CHECK(got == top);
    __syncwarp();
    CHECK(Int(temp[group].i).Broadcast(v, 2) == x[base + 2]);
    __syncwarp();
    Both both;
    Wide(temp[group].w).InclusiveScan(Both{v, v * 0.25}, both, Join());
    CHECK(both.sum == before + v && both.real == (before + v) * 0.25);
    __syncthreads();
}
extern "C" __global__ void k(const int* x) {
    reduce<32>(x);
    reduce<16>(x);
    reduce<8>(x);
    scan<32>(x);
    scan<16>(x);
    scan<8>(x);
}
