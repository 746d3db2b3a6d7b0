/* kernelwright
when: "D % 8 == 0"
kernels:
  - {name: wide, grid: [N], block: 64, args: [table, indices, y, "D / 8"]}
*/
/* kernelwright
when: "D % 2 == 0"
kernels:
  - {name: pairs, grid: [N], block: 64, args: [table, indices, y, "D / 2"]}
*/
/* kernelwright
kernels:
  - {name: single, grid: [N], block: 64, args: [table, indices, y, D]}
*/
template <class T>
__device__ void copy_row(const T* table, const int* indices, T* y, int n) {
    const T* from = table + (size_t)__ldg(indices + blockIdx.x) * n;
    for (int i = threadIdx.x; i < n; i += 64) y[(size_t)blockIdx.x * n + i] = from[i];
}
extern "C" __global__ void wide(const uint4* t, const int* i, uint4* y, int n) { copy_row(t, i, y, n); }
extern "C" __global__ void pairs(const unsigned* t, const int* i, unsigned* y, int n) { copy_row(t, i, y, n); }
extern "C" __global__ void single(const unsigned short* t, const int* i, unsigned short* y, int n) { copy_row(t, i, y, n); }
