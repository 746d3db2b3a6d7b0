/* kernelwright
scratch:
  p: {dtype: f32, shape: [16]}
  n: {dtype: i32, shape: [1]}
kernels:
  - {name: z, grid: [1], block: [1], args: [n]}
  - {name: k, grid: [16], block: [32], args: [x,p,n,y,N]}
*/
// expect: sanitize global-race (.cta orders nothing between blocks)
#include <cuda/atomic>
extern "C" __global__ void z(int* n) { *n = 0; }
extern "C" __global__ void k(const float* x, float* p, int* n, float* y, int N) {
    float s = 0; for (int i = blockIdx.x*32+threadIdx.x; i < N; i += 512) s += x[i];
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x) return;
    p[blockIdx.x] = s; int o;
    asm volatile("atom.acq_rel.cta.global.add.s32 %0, [%1], 1;" : "=r"(o) : "l"(n) : "memory");
    if (o == 15) {  float t = 0; for (int i = 0; i < 16; ++i) t += p[i]; *y = t; }
}
