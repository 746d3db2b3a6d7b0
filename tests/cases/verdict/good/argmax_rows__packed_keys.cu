/* kernelwright
scratch:
  best: {dtype: i64, shape: [M]}
kernels:
  - {name: clear, grid: ["ceil_div(M, 128)"], block: 128, args: [best, M]}
  - {name: reduce, grid: ["ceil_div(N, 512)", M], block: 128, args: [x, best, N]}
  - {name: unpack, grid: ["ceil_div(M, 128)"], block: 128, args: [best, y, M]}
*/
// One 64-bit atomic maximum a warp: the value's ordered bits above, the complement of the column below. Adding +0 makes -0 equal to it.
extern "C" __global__ void clear(unsigned long long* best, int M) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i < M) best[i] = 0;
}
extern "C" __global__ void reduce(const float* x, unsigned long long* best, int N) {
    unsigned long long mine = 0;
    for (int c = blockIdx.x * 512 + threadIdx.x; c < min(N, (int)(blockIdx.x + 1) * 512); c += 128) {
        unsigned b = __float_as_uint(x[(size_t)blockIdx.y * N + c] + 0.0f);
        b = b >> 31 ? ~b : b | 0x80000000u;
        mine = max(mine, (unsigned long long)b << 32 | ~(unsigned)c);
    }
    for (int o = 16; o; o >>= 1) mine = max(mine, __shfl_xor_sync(~0u, mine, o));
    if (threadIdx.x % 32 == 0) atomicMax(best + blockIdx.y, mine);
}
extern "C" __global__ void unpack(const unsigned long long* best, int* y, int M) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i < M) y[i] = ~(unsigned)best[i];
}
