/* kernelwright
kernels:
  - name: decode
    grid: ["ceil_div(B * G * R, 32)"]
    block: 32
    args: [q, k_cache, v_cache, lengths, o, scale, B, T, G, R]
*/
#include <cuda_fp16.h>
__device__ float score(const __half* q, const __half* k, float scale) {
    float dot = 0.0f;
    for (int d = 0; d < 64; ++d) dot += __half2float(q[d]) * __half2float(k[d]);
    return scale * dot;
}

extern "C" __global__ void decode(const __half* q, const __half* k_cache, const __half* v_cache, const int* lengths, __half* o, float scale,
                                  int B, int T, int G, int R) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int heads = G * R;
    if (t >= B * heads) return;
    int b = t / heads, g = t % heads / R, length = lengths[b];
    const __half* query = q + t * 64;
    const __half* keys = k_cache + ((long long)b * T * G + g) * 64;
    const __half* values = v_cache + ((long long)b * T * G + g) * 64;
    float m = score(query, keys, scale);
    for (int j = 1; j < length; ++j) m = fmaxf(m, score(query, keys + (long long)j * G * 64, scale));
    float sum = 0.0f, result[64];
    for (int d = 0; d < 64; ++d) result[d] = 0.0f;
    for (int j = 0; j < length; ++j) {
        float p = expf(score(query, keys + (long long)j * G * 64, scale) - m);
        sum += p;
        for (int d = 0; d < 64; ++d) result[d] += p * __half2float(values[(long long)j * G * 64 + d]);
    }
    for (int d = 0; d < 64; ++d) o[t * 64 + d] = __float2half(result[d] / sum);
}
