/* kernelwright
when: "D % 8 != 0 && D % 2 == 0"
kernels:
  - {name: pairs, grid: [N], block: 64, args: [table, indices, y, "D / 2"]}
*/
/* kernelwright
kernels:
  - {name: single, grid: [N], block: 64, args: [table, indices, y, D]}
*/
// expect: numerics unwritten-output (the variant for pairs, which no listed shape meets, leaves out the last pair)
extern "C" __global__ void pairs(const unsigned* table, const int* indices, unsigned* y, int n) {
    for (int i = threadIdx.x; i < n - 1; i += 64) y[(size_t)blockIdx.x * n + i] = table[(size_t)indices[blockIdx.x] * n + i];
}
extern "C" __global__ void single(const unsigned short* table, const int* indices, unsigned short* y, int n) {
    for (int i = threadIdx.x; i < n; i += 64) y[(size_t)blockIdx.x * n + i] = table[(size_t)indices[blockIdx.x] * n + i];
}
