/* kernelwright
scratch:
  e: {dtype: f32, shape: [M, N]}
kernels:
  - {name: k, grid: [M], block: [64], args: [x,e,y,N]}
*/
// expect: sanitize non-coherent-read (__ldg of what the same kernel writes)
extern "C" __global__ void k(const float* x, float* e, float* y, int N) {
    __shared__ float w[2]; size_t b = (size_t)blockIdx.x*N; int t = threadIdx.x; float m = -INFINITY, s = 0; for (int c = t%32; c < N; c += 32) m = fmaxf(m, x[b+c]); for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    for (int c = t; c < N; c += 64) { float q = expf(x[b+c]-m); e[b+c] = q; s += q; } for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o); if (t%32 == 0) w[t/32] = s; __syncthreads();
    for (int c = t; c < N; c += 64) { int r = N-1-c; y[b+r] = __ldg(e+b+r)/(w[0]+w[1]); }   // ld.global.nc of what this kernel wrote
}
