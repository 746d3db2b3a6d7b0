// buffer: x input i32 512 mod 1000
// launch: k grid=1 block=128 args=x
// expect: clean
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
extern "C" __global__ void k(const int* x) {
    using Reduce = cub::BlockReduce<int, 128>;
    using Scan = cub::BlockScan<int, 128>;
    using Sort = cub::BlockRadixSort<int, 128, 4>;
    __shared__ union { typename Reduce::TempStorage r; typename Scan::TempStorage c; typename Sort::TempStorage o; } temp;
    int t = threadIdx.x, total = 0, before = 0;
    for (int i = 0; i < 128; ++i) {
        total += x[i];
        if (i < t) before += x[i];
    }
    int sum = Reduce(temp.r).Sum(x[t]);
    if (t == 0 && sum != total) __trap();
    __syncthreads();
    int scanned;
    Scan(temp.c).ExclusiveSum(x[t], scanned);
    if (scanned != before) __trap();
    __syncthreads();
    int keys[4];
    for (int i = 0; i < 4; ++i) keys[i] = x[4 * t + i];
    Sort(temp.o).Sort(keys);
    for (int i = 0; i < 3; ++i)
        if (keys[i] > keys[i + 1]) __trap();
    __shared__ int first[129];
    first[t] = keys[0];
    if (t == 0) first[128] = 0x7fffffff;
    __syncthreads();
    if (keys[3] > first[t + 1]) __trap();
}
