/* kernelwright
scratch:
  part_o: {dtype: f32, shape: [B, "G * R", "ceil_div(T, 64)", 64]}
  part_ms: {dtype: f32, shape: [B, "G * R", "ceil_div(T, 64)", 2]}
kernels:
  - {name: part, grid: ["ceil_div(T, 64)", "G * R", B], block: 64, args: [q, k_cache, v_cache, lengths, part_o, part_ms, T, R, G, scale]}
  - {name: combine, grid: ["G * R", B], block: 64, args: [part_o, part_ms, lengths, o, T]}
*/
#include <cuda_fp16.h>
// Positions are split over blocks; exponents in base 2 with the scale folded in.
extern "C" __global__ void part(const __half* q, const __half* kc, const __half* vc, const int* lengths, float* po, float* pms, int T, int R, int G, float scale) {
    const int h = blockIdx.y, b = blockIdx.z, g = h / R, H = G * R, t = threadIdx.x, first = blockIdx.x * 64;
    const int n = min(64, lengths[b] - first);
    if (n <= 0) return;
    __shared__ float qs[64], ps[64];
    qs[t] = __half2float(q[((size_t)b * H + h) * 64 + t]) * (scale * 1.44269504f);
    __syncthreads();
    float s = -INFINITY;
    if (t < n) {
        const __half2* k = reinterpret_cast<const __half2*>(kc + (((size_t)b * T + first + t) * G + g) * 64);
        s = 0;
        for (int d = 0; d < 32; ++d) {
            const float2 v = __half22float2(k[d]);
            s = fmaf(qs[2 * d], v.x, fmaf(qs[2 * d + 1], v.y, s));
        }
    }
    ps[t] = s;
    __syncthreads();
    float m = -INFINITY;
    for (int j = 0; j < n; ++j) m = fmaxf(m, ps[j]);
    __syncthreads();
    ps[t] = t < n ? exp2f(s - m) : 0.0f;
    __syncthreads();
    float sum = 0, acc = 0;
    for (int j = 0; j < n; ++j) {
        sum += ps[j];
        acc += ps[j] * __half2float(vc[(((size_t)b * T + first + j) * G + g) * 64 + t]);
    }
    const size_t at = ((size_t)b * H + h) * gridDim.x + blockIdx.x;
    po[at * 64 + t] = acc;
    if (t == 0) pms[at * 2] = m, pms[at * 2 + 1] = sum;
}
extern "C" __global__ void combine(const float* po, const float* pms, const int* lengths, __half* o, int T) {
    const int parts = (T + 63) / 64, used = (lengths[blockIdx.y] + 63) / 64;
    const size_t head = (size_t)blockIdx.y * gridDim.x + blockIdx.x, at = head * parts;
    float m = -INFINITY, sum = 0, acc = 0;
    for (int p = 0; p < used; ++p) m = fmaxf(m, pms[(at + p) * 2]);
    for (int p = 0; p < used; ++p) {
        const float w = exp2f(pms[(at + p) * 2] - m);
        sum += w * pms[(at + p) * 2 + 1];
        acc += w * po[(at + p) * 64 + threadIdx.x];
    }
    o[head * 64 + threadIdx.x] = __float2half(acc / sum);
}
