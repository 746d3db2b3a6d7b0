/* kernelwright
kernels:
  - {name: gemm, grid: ["ceil_div(N, 32)", "ceil_div(M, 32)"], block: 128, args: [a, b, c, M, N, K]}
*/
#include <cuda_fp16.h>
// Four warps, each 16 x 16 of a 32 x 32 tile by two mma.m16n8k16; tiles staged with zero padding, ldmatrix from there.
extern "C" __global__ void __launch_bounds__(128) gemm(const __half* a, const __half* b, __half* c, int M, int N, int K) {
    __shared__ __align__(16) __half as[32][24], bs[16][40];
    const int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int wr = warp / 2 * 16, wc = warp % 2 * 16;
    float acc[2][4] = {};
    const __half zero = __ushort_as_half(0);
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int e = threadIdx.x; e < 512; e += 128) {
            const int i = e / 16, k = e % 16;
            as[i][k] = row0 + i < M && k0 + k < K ? a[(size_t)(row0 + i) * K + k0 + k] : zero;
            const int kb = e / 32, j = e % 32;
            bs[kb][j] = k0 + kb < K && col0 + j < N ? b[(size_t)(k0 + kb) * N + col0 + j] : zero;
        }
        __syncthreads();
        unsigned ra[4], rb[4];
        const unsigned pa = (unsigned)__cvta_generic_to_shared(&as[wr + lane % 16][lane / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa));
        const unsigned pb = (unsigned)__cvta_generic_to_shared(&bs[lane % 16][wc + lane / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(rb[0]), "=r"(rb[1]), "=r"(rb[2]), "=r"(rb[3]) : "r"(pb));
        for (int t = 0; t < 2; ++t)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+f"(acc[t][0]), "+f"(acc[t][1]), "+f"(acc[t][2]), "+f"(acc[t][3])
                         : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[2 * t]), "r"(rb[2 * t + 1]));
        __syncthreads();
    }
    for (int t = 0; t < 2; ++t)
        for (int e = 0; e < 4; ++e) {
            const int i = row0 + wr + lane / 4 + e / 2 * 8, j = col0 + wc + t * 8 + lane % 4 * 2 + e % 2;
            if (i < M && j < N) c[(size_t)i * N + j] = __float2half(acc[t][e]);
        }
}
