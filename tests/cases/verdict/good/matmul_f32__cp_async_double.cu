/* kernelwright
kernels:
  - {name: "gemm<32, 16>", grid: ["ceil_div(N, 32)", "ceil_div(M, 32)"], block: 256, shared: "2 * (32 * 16 + 16 * 32) * 4", args: [a, b, c, M, N, K]}
*/
#include <cuda_pipeline.h>
// Two stages of dynamic shared memory filled by cp.async (zeros beyond the edges), 2 x 2 results a thread.
template <int tile, int depth>
__global__ void __launch_bounds__(256) gemm(const float* a, const float* b, float* c, int M, int N, int K) {
    extern __shared__ float stage[];
    const int row0 = blockIdx.y * tile, col0 = blockIdx.x * tile, t = threadIdx.x;
    const auto load = [&](int s, int k0) {
        float* as = stage + s * 2 * tile * depth;
        float* bs = as + tile * depth;
        for (int e = t; e < tile * depth; e += 256) {
            const int i = e / depth, k = e % depth;
            const bool in = row0 + i < M && k0 + k < K;
            __pipeline_memcpy_async(as + e, in ? a + (size_t)(row0 + i) * K + k0 + k : a, 4, in ? 0 : 4);
            const int kb = e / tile, j = e % tile;
            const bool in_b = k0 + kb < K && col0 + j < N;
            __pipeline_memcpy_async(bs + e, in_b ? b + (size_t)(k0 + kb) * N + col0 + j : b, 4, in_b ? 0 : 4);
        }
        __pipeline_commit();
    };
    float acc[2][2] = {};
    const int i0 = t / 16 * 2, j0 = t % 16 * 2;
    load(0, 0);
    for (int k0 = 0, s = 0; k0 < K; k0 += depth, s ^= 1) {
        if (k0 + depth < K) {
            load(s ^ 1, k0 + depth);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        const float* as = stage + s * 2 * tile * depth;
        const float* bs = as + tile * depth;
        for (int k = 0; k < depth; ++k)
            for (int u = 0; u < 2; ++u)
                for (int v = 0; v < 2; ++v) acc[u][v] = fmaf(as[(i0 + u) * depth + k], bs[k * tile + j0 + v], acc[u][v]);
        __syncthreads();
    }
    for (int u = 0; u < 2; ++u)
        for (int v = 0; v < 2; ++v)
            if (row0 + i0 + u < M && col0 + j0 + v < N) c[(size_t)(row0 + i0 + u) * N + col0 + j0 + v] = acc[u][v];
}
