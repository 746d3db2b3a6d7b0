/* kernelwright
kernels:
  - {name: k, grid: [M], block: [32], args: [x, y, N]}
*/
// expect: numerics wrong-value (ordering the bits puts -0 below +0, which are equal: the first must win)
extern "C" __global__ void k(const float* x, int* y, int N) {
    unsigned long long best = 0;
    for (int i = threadIdx.x; i < N; i += 32) {
        unsigned b = __float_as_uint(x[(size_t)blockIdx.x * N + i]);
        b = b >> 31 ? ~b : b | 0x80000000u;
        unsigned long long key = (unsigned long long)b << 32 | (0xffffffffu - i);
        if (key > best) best = key;
    }
    for (int o = 16; o; o >>= 1) {
        unsigned long long other = __shfl_xor_sync(~0u, best, o);
        if (other > best) best = other;
    }
    if (threadIdx.x == 0) y[blockIdx.x] = 0xffffffffu - (unsigned)best;
}
