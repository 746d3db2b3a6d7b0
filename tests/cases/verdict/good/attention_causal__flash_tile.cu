/* kernelwright
kernels:
  - {name: flash, grid: ["ceil_div(S, 16)"], block: [64, 4], shared: "(16 + 32 + 32) * 65 * 4 + 16 * 33 * 4", args: [q, k, v, o, S, scale]}
*/
// Sixteen queries a block, keys in tiles of 32; running maximum with -FLT_MAX as its start, exponents by a fused exp2.
extern "C" __global__ void __launch_bounds__(256) flash(const float* q, const float* k, const float* v, float* o, int S, float scale) {
    extern __shared__ float sm[];
    float (*qs)[65] = (float(*)[65])sm, (*ks)[65] = qs + 16, (*vs)[65] = ks + 32;
    float (*ps)[33] = (float(*)[33])(sm + 80 * 65);
    const int d = threadIdx.x, w = threadIdx.y, t = w * 64 + d, q0 = blockIdx.x * 16;
    for (int r = w; r < 16; r += 4) qs[r][d] = q0 + r < S ? q[(q0 + r) * 64 + d] : 0.0f;
    float m[4], sum[4], acc[4];
    for (int r = 0; r < 4; ++r) m[r] = -FLT_MAX, sum[r] = 0, acc[r] = 0;
    const float c = scale * 1.44269504f;
    for (int k0 = 0; k0 < min(S, q0 + 16); k0 += 32) {
        __syncthreads();
        for (int r = w; r < 32; r += 4) {
            ks[r][d] = k0 + r < S ? k[(k0 + r) * 64 + d] : 0.0f;
            vs[r][d] = k0 + r < S ? v[(k0 + r) * 64 + d] : 0.0f;
        }
        __syncthreads();
        for (int e = t; e < 16 * 32; e += 256) {
            const int i = e / 32, j = e % 32;
            float s = 0;
            for (int l = 0; l < 64; ++l) s += qs[i][l] * ks[j][l];
            ps[i][j] = k0 + j <= q0 + i ? s : -INFINITY;
        }
        __syncthreads();
        for (int r = 0; r < 4; ++r) {
            const int i = w * 4 + r;
            float n = m[r];
            for (int j = 0; j < 32; ++j) n = fmaxf(n, ps[i][j]);
            const float f = exp2f((m[r] - n) * c);
            sum[r] *= f, acc[r] *= f, m[r] = n;
            for (int j = 0; j < 32; ++j) {
                const float p = exp2f(fmaf(ps[i][j], c, -n * c));
                sum[r] += p;
                acc[r] += p * vs[j][d];
            }
        }
    }
    for (int r = 0; r < 4; ++r)
        if (q0 + w * 4 + r < S) o[(q0 + w * 4 + r) * 64 + d] = acc[r] / sum[r];
}
