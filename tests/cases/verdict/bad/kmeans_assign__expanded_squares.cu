/* kernelwright
kernels:
  - {name: k, grid: ["ceil_div(N, 128)"], block: 128, args: [x, centroids, index, distance, N, K, D]}
*/
// expect: numerics wrong-value (|x|^2 - 2 x.c + |c|^2 cancels for points far from the origin)
extern "C" __global__ void k(const float* x, const float* c, int* index, float* distance, int N, int K, int D) {
    int i = blockIdx.x * 128 + threadIdx.x, at = 0;
    if (i >= N) return;
    float best = INFINITY, xx = 0;
    for (int e = 0; e < D; ++e) xx += x[i * D + e] * x[i * D + e];
    for (int j = 0; j < K; ++j) {
        float xc = 0, cc = 0;
        for (int e = 0; e < D; ++e) xc += x[i * D + e] * c[j * D + e], cc += c[j * D + e] * c[j * D + e];
        float d = xx - 2 * xc + cc;
        if (d < best) best = d, at = j;
    }
    index[i] = at;
    distance[i] = best;
}
