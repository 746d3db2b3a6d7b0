/* kernelwright
kernels:
  - name: attention
    grid: ["ceil_div(S, 32)"]
    block: 32
    args: [q, k, v, o, scale, S]
*/
// One thread for each query: the largest score first, then the weighted sum.
__device__ float score(const float* q, const float* k, int i, int j, float scale) {
    float dot = 0.0f;
    for (int d = 0; d < 64; ++d) dot += q[i * 64 + d] * k[j * 64 + d];
    return scale * dot;
}

extern "C" __global__ void attention(const float* q, const float* k, const float* v, float* o, float scale, int S) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= S) return;
    float m = score(q, k, i, 0, scale);
    for (int j = 1; j <= i; ++j) m = fmaxf(m, score(q, k, i, j, scale));
    float sum = 0.0f, result[64];
    for (int d = 0; d < 64; ++d) result[d] = 0.0f;
    for (int j = 0; j <= i; ++j) {
        float p = expf(score(q, k, i, j, scale) - m);
        sum += p;
        for (int d = 0; d < 64; ++d) result[d] += p * v[j * 64 + d];
    }
    for (int d = 0; d < 64; ++d) o[i * 64 + d] = result[d] / sum;
}
