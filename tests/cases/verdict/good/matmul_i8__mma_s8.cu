/* kernelwright
kernels:
  - {name: gemm, grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"], block: 32, args: [a, b, c, M, N, K]}
*/
// One warp, a 16 x 16 tile by two mma.m16n8k32 on signed bytes.
extern "C" __global__ void gemm(const signed char* a, const signed char* b, int* c, int M, int N, int K) {
    __shared__ __align__(16) signed char as[16][32], bs[16][32];
    const int row0 = blockIdx.y * 16, col0 = blockIdx.x * 16, lane = threadIdx.x, g = lane / 4, t = lane % 4;
    int acc[2][4] = {};
    for (int k0 = 0; k0 < K; k0 += 32) {
        for (int r = 0; r < 16; ++r) {
            as[r][lane] = row0 + r < M && k0 + lane < K ? a[(size_t)(row0 + r) * K + k0 + lane] : 0;
            bs[r][lane] = col0 + r < N && k0 + lane < K ? b[(size_t)(col0 + r) * K + k0 + lane] : 0;
        }
        __syncwarp();
        const int a0 = *(const int*)&as[g][t * 4], a1 = *(const int*)&as[g + 8][t * 4], a2 = *(const int*)&as[g][16 + t * 4], a3 = *(const int*)&as[g + 8][16 + t * 4];
        for (int h = 0; h < 2; ++h) {
            const int b0 = *(const int*)&bs[h * 8 + g][t * 4], b1 = *(const int*)&bs[h * 8 + g][16 + t * 4];
            asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+r"(acc[h][0]), "+r"(acc[h][1]), "+r"(acc[h][2]), "+r"(acc[h][3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
        }
        __syncwarp();
    }
    for (int h = 0; h < 2; ++h)
        for (int e = 0; e < 4; ++e) {
            const int i = row0 + g + e / 2 * 8, j = col0 + h * 8 + t * 2 + e % 2;
            if (i < M && j < N) c[(size_t)i * N + j] = acc[h][e];
        }
}
