// Every algorithm of BlockReduce and BlockScan: several types, blocks that are no whole number of warps, partial tiles.
// buffer: x input i32 2048 mod 991
// launch: k grid=1 block=96 args=x
// launch: odd grid=1 block=50 args=x
// launch: plane grid=1 block=16,4,2 args=x
// expect: clean
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
#define CHECK(x) if (!(x)) __trap()
struct Pair { int value, index; };
struct Larger {
    __device__ Pair operator()(Pair a, Pair b) const { return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a; }
};
struct Product {  // of 2 x 2 matrices modulo a prime: not commutative
    unsigned a, b, c, d;
};
struct Multiply {
    __device__ Product operator()(Product x, Product y) const {
        return {(x.a * y.a + x.b * y.c) % 10007, (x.a * y.b + x.b * y.d) % 10007, (x.c * y.a + x.d * y.c) % 10007, (x.c * y.b + x.d * y.d) % 10007};
    }
};
__device__ bool same(Product x, Product y) { return x.a == y.a && x.b == y.b && x.c == y.c && x.d == y.d; }
__device__ Product product_of(int v) { return {unsigned(v % 13), unsigned(v % 7 + 1), unsigned(v % 5), unsigned(v % 11 + 2)}; }
struct Running {  // the prefix of tiles that follow one another
    int total;
    __device__ int operator()(int aggregate) { int before = total; total += aggregate; return before; }
};
template <cub::BlockReduceAlgorithm A, int X, int Y = 1, int Z = 1>
__device__ void reduce(const int* x, int t) {
    constexpr int n = X * Y * Z;
    using Int = cub::BlockReduce<int, X, A, Y, Z>;
    using Double = cub::BlockReduce<double, X, A, Y, Z>;
    using Long = cub::BlockReduce<long long, X, A, Y, Z>;
    using Pairs = cub::BlockReduce<Pair, X, A, Y, Z>;
    __shared__ union { typename Int::TempStorage i; typename Double::TempStorage d; typename Long::TempStorage l; typename Pairs::TempStorage p; } temp;
    int sum = 0, least = x[0], some = 0;
    Pair best = {x[0], 0};
    for (int i = 0; i < n; ++i) {
        sum += x[i];
        least = min(least, x[i]);
        best = Larger()(best, Pair{x[i], i});
        if (i < n - 9) some += x[i];
    }
    int got = Int(temp.i).Sum(x[t]);
    if (t == 0) CHECK(got == sum);
    __syncthreads();
    got = Int(temp.i).Sum(x[t], n - 9);
    if (t == 0) CHECK(got == some);
    __syncthreads();
    got = Int(temp.i).Reduce(x[t], cuda::minimum<>{});
    if (t == 0) CHECK(got == least);
    __syncthreads();
    int items[3] = {x[3 * t], x[3 * t + 1], x[3 * t + 2]}, all = 0;
    for (int i = 0; i < 3 * n; ++i) all += x[i];
    got = Int(temp.i).Sum(items);
    if (t == 0) CHECK(got == all);
    __syncthreads();
    double real = Double(temp.d).Sum(x[t] * 0.5);
    if (t == 0) CHECK(real == sum * 0.5);
    __syncthreads();
    long long wide = Long(temp.l).Sum((long long)x[t] << 33);
    if (t == 0) CHECK(wide == (long long)sum << 33);
    __syncthreads();
    Pair found = Pairs(temp.p).Reduce(Pair{x[t], t}, Larger());
    if (t == 0) CHECK(found.value == best.value && found.index == best.index);
    __syncthreads();
}
template <int X>
__device__ void reduce_in_order(const int* x, int t) {
    using Reduce = cub::BlockReduce<Product, X, cub::BLOCK_REDUCE_RAKING>;
    __shared__ typename Reduce::TempStorage temp;
    Product all = product_of(x[0]);
    for (int i = 1; i < X; ++i) all = Multiply()(all, product_of(x[i]));
    Product got = Reduce(temp).Reduce(product_of(x[t]), Multiply());
    if (t == 0) CHECK(same(got, all));
    __syncthreads();
}
template <cub::BlockScanAlgorithm A, int X, int Y = 1, int Z = 1>
__device__ void scan(const int* x, int t) {
    constexpr int n = X * Y * Z;
    using Int = cub::BlockScan<int, X, A, Y, Z>;
    using Products = cub::BlockScan<Product, X, A, Y, Z>;
    __shared__ union { typename Int::TempStorage i; typename Products::TempStorage p; } temp;
    int before = 0, all = 0, most = 0;
    Product upto = product_of(x[0]);
    for (int i = 0; i < n; ++i) {
        all += x[i];
        if (i < t) before += x[i];
        if (i <= t) most = max(most, x[i]);
        if (i > 0 && i <= t) upto = Multiply()(upto, product_of(x[i]));
    }
    int got, aggregate;
    Int(temp.i).InclusiveSum(x[t], got);
    CHECK(got == before + x[t]);
    __syncthreads();
    Int(temp.i).ExclusiveSum(x[t], got, aggregate);
    CHECK(got == before && aggregate == all);
    __syncthreads();
    Int(temp.i).InclusiveScan(x[t], got, cuda::maximum<>{});
    CHECK(got == most);
    __syncthreads();
    Int(temp.i).ExclusiveScan(x[t], got, 100, cuda::std::plus<>{}, aggregate);
    CHECK(got == before + 100);
    __syncthreads();
    Product through;
    Products(temp.p).InclusiveScan(product_of(x[t]), through, Multiply());
    CHECK(same(through, upto));
    __syncthreads();
    Running running{7};
    for (int tile = 0; tile < 3; ++tile) {
        int items[2] = {x[(tile * n + t) * 2], x[(tile * n + t) * 2 + 1]};
        Int(temp.i).ExclusiveSum(items, items, running);
        int expected = 7;
        for (int i = 0; i < (tile * n + t) * 2; ++i) expected += x[i];
        CHECK(items[0] == expected && items[1] == expected + x[(tile * n + t) * 2]);
        __syncthreads();
    }
}
template <int X, int Y = 1, int Z = 1>
__device__ void both(const int* x, int t) {
    reduce<cub::BLOCK_REDUCE_RAKING, X, Y, Z>(x, t);
    reduce<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, X, Y, Z>(x, t);
    reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS, X, Y, Z>(x, t);
    scan<cub::BLOCK_SCAN_RAKING, X, Y, Z>(x, t);
    scan<cub::BLOCK_SCAN_RAKING_MEMOIZE, X, Y, Z>(x, t);
    scan<cub::BLOCK_SCAN_WARP_SCANS, X, Y, Z>(x, t);
}
extern "C" __global__ void k(const int* x) {
    both<96>(x, threadIdx.x);
    reduce_in_order<96>(x, threadIdx.x);
}
extern "C" __global__ void odd(const int* x) {
    both<50>(x, threadIdx.x);
    reduce_in_order<50>(x, threadIdx.x);
}
extern "C" __global__ void plane(const int* x) { both<16, 4, 2>(x, threadIdx.x + 16 * (threadIdx.y + 4 * threadIdx.z)); }
