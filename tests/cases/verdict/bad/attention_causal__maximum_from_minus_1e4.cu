/* kernelwright
kernels:
  - {name: k, grid: [S], block: [64], args: [q, k, v, o, S, scale]}
*/
// expect: numerics wrong-value (the running maximum starts at -1e4; scores can lie below it)
extern "C" __global__ void k(const float* q, const float* k, const float* v, float* o, int S, float scale) {
    __shared__ float part[64];
    const int i = blockIdx.x, d = threadIdx.x;
    float m = -1e4f, sum = 0, acc = 0;
    for (int j = 0; j <= i; ++j) {
        part[d] = q[i * 64 + d] * k[j * 64 + d];
        __syncthreads();
        for (int h = 32; h; h >>= 1) {
            if (d < h) part[d] += part[d + h];
            __syncthreads();
        }
        float s = part[0] * scale, n = fmaxf(m, s), c = expf(m - n), p = expf(s - n);
        sum = sum * c + p;
        acc = acc * c + p * v[j * 64 + d];
        m = n;
        __syncthreads();
    }
    o[i * 64 + d] = acc / sum;
}
