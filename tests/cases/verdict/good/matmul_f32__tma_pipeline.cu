/* kernelwright
when: "K % 4 == 0 && N % 4 == 0"
target: sm_90a
tensormaps:
  ta: {tensor: a, box: [16, 32]}
  tb: {tensor: b, box: [32, 16]}
kernels:
  - name: mm_tma
    grid: ["ceil_div(N, 32)", "ceil_div(M, 32)", 1]
    block: [288, 1, 1]
    args: [ta, tb, c, M, N, K]
*/
/* kernelwright
target: sm_90a
kernels:
  - name: mm_plain
    grid: ["ceil_div(N, 32)", "ceil_div(M, 8)", 1]
    block: [256, 1, 1]
    args: [a, b, c, M, N, K]
*/
// Two stages: a producer warp brings tiles by TMA, which fills with zeros past the edges; eight warps consume.
#include <cuda.h>
#include <cuda/ptx>
namespace ptx = cuda::ptx;
extern "C" __global__ void mm_tma(const __grid_constant__ CUtensorMap ta, const __grid_constant__ CUtensorMap tb,
                                  float* __restrict__ c, int M, int N, int K) {
    __shared__ __align__(128) float a[2][32][16], b[2][16][32];
    __shared__ unsigned long long full[2], empty[2];
    const int t = threadIdx.x, tiles = (K + 15) / 16, row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
    if (t == 0) {
        for (int s = 0; s < 2; ++s) {
            ptx::mbarrier_init(&full[s], 1);
            ptx::mbarrier_init(&empty[s], 256);
        }
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::fence_proxy_async();
    }
    __syncthreads();
    if (t >= 256) {
        if (t == 256)
            for (int i = 0; i < tiles; ++i) {
                const int s = i & 1, parity = (i >> 1) & 1;
                while (!ptx::mbarrier_try_wait_parity(&empty[s], parity ^ 1)) {}
                ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s],
                                               sizeof(a[0]) + sizeof(b[0]));
                const int at_a[2] = {16 * i, row0}, at_b[2] = {col0, 16 * i};
                ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, a[s], &ta, at_a, &full[s]);
                ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, b[s], &tb, at_b, &full[s]);
            }
        return;
    }
    const int col = t % 32, row = t / 32 * 4;
    float sum[4] = {};
    for (int i = 0; i < tiles; ++i) {
        const int s = i & 1, parity = (i >> 1) & 1;
        while (!ptx::mbarrier_try_wait_parity(&full[s], parity)) {}
#pragma unroll
        for (int k = 0; k < 16; ++k)
#pragma unroll
            for (int r = 0; r < 4; ++r) sum[r] = fmaf(a[s][row + r][k], b[s][k][col], sum[r]);
        ptx::mbarrier_arrive(&empty[s]);
    }
#pragma unroll
    for (int r = 0; r < 4; ++r)
        if (row0 + row + r < M && col0 + col < N) c[(size_t)(row0 + row + r) * N + col0 + col] = sum[r];
}
extern "C" __global__ void mm_plain(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                    int M, int N, int K) {
    const int col = blockIdx.x * 32 + threadIdx.x % 32, row = blockIdx.y * 8 + threadIdx.x / 32;
    if (row >= M || col >= N) return;
    float sum = 0;
    for (int k = 0; k < K; ++k) sum = fmaf(a[(size_t)row * K + k], b[(size_t)k * N + col], sum);
    c[(size_t)row * N + col] = sum;
}
