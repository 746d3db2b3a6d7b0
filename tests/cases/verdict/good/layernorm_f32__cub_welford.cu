/* kernelwright
kernels:
  - {name: "layernorm<128>", grid: [M], block: [128], args: [x, gamma, beta, y, N, eps]}
*/
#include <cub/block/block_reduce.cuh>
struct Moments { float mean, m2, n; };
struct Merge {
    __device__ Moments operator()(const Moments& a, const Moments& b) const {
        const float n = a.n + b.n;
        if (n == 0) return a;
        const float d = b.mean - a.mean;
        return {a.mean + d * (b.n / n), a.m2 + b.m2 + d * d * (a.n * b.n / n), n};
    }
};
template <int threads>
__global__ void __launch_bounds__(threads) layernorm(const float* x, const float* gamma, const float* beta, float* y, int N, float eps) {
    using Reduce = cub::BlockReduce<Moments, threads>;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ float mean, rstd;
    const float* row = x + (size_t)blockIdx.x * N;
    Moments m{0, 0, 0};
    for (int i = threadIdx.x; i < N; i += threads) {
        m.n += 1;
        const float d = row[i] - m.mean;
        m.mean += d / m.n;
        m.m2 += d * (row[i] - m.mean);
    }
    m = Reduce(storage).Reduce(m, Merge());
    if (threadIdx.x == 0) mean = m.mean, rstd = rsqrtf(m.m2 / N + eps);
    __syncthreads();
    for (int i = threadIdx.x; i < N; i += threads)
        y[(size_t)blockIdx.x * N + i] = (row[i] - mean) * rstd * gamma[i] + beta[i];
}
