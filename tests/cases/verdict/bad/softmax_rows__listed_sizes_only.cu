/* kernelwright
kernels:
  - {name: k, grid: [M], block: [128], args: [x, y, N]}
*/
// expect: numerics|sanitize wrong-value (right at the page's sizes alone: what is left over is dropped elsewhere)
template <int n>
__device__ void row(const float* r, float* w) {
    __shared__ float part[128];
    float m = -INFINITY, s = 0;
    for (int i = threadIdx.x; i < n; i += 128) m = fmaxf(m, r[i]);
    part[threadIdx.x] = m;
    __syncthreads();
    for (int o = 64; o; o >>= 1) {
        if (threadIdx.x < o) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + o]);
        __syncthreads();
    }
    m = part[0];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 128) s += expf(r[i] - m);
    part[threadIdx.x] = s;
    __syncthreads();
    for (int o = 64; o; o >>= 1) {
        if (threadIdx.x < o) part[threadIdx.x] += part[threadIdx.x + o];
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n; i += 128) w[i] = expf(r[i] - m) / part[0];
}
extern "C" __global__ void k(const float* x, float* y, int N) {
    const float* r = x + (size_t)blockIdx.x * N;
    float* w = y + (size_t)blockIdx.x * N;
    switch (N) {
        case 1: return row<1>(r, w);
        case 17: return row<17>(r, w);
        case 32: return row<32>(r, w);
        case 257: return row<257>(r, w);
        case 1000: return row<1000>(r, w);
        case 1031: return row<1031>(r, w);
        case 1024: return row<1024>(r, w);
        case 2053: return row<2053>(r, w);
        case 8192: return row<8192>(r, w);
    }
}
