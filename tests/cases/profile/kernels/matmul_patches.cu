/* kernelwright
kernels:
  - name: matmul
    grid: ["ceil_div(N, 64)", "ceil_div(M, 64)"]
    block: 256
    args: [a, b, c, M, N, K]
*/
// A thread owns 4 x 4 outputs in registers.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int M, int N, int K) {
    __shared__ float left[16][68], right[16][64];
    int t = threadIdx.x, x = t % 16, y = t / 16, i0 = blockIdx.y * 64, j0 = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int e = t; e < 1024; e += 256) {
            int r = e / 16, k = e % 16;
            left[k][r] = i0 + r < M && k0 + k < K ? a[(size_t)(i0 + r) * K + k0 + k] : 0.0f;
            int q = e / 64, j = e % 64;
            right[q][j] = k0 + q < K && j0 + j < N ? b[(size_t)(k0 + q) * N + j0 + j] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            float4 u = *(const float4*)&left[k][4 * y], v = *(const float4*)&right[k][4 * x];
            float p[4] = {u.x, u.y, u.z, u.w}, q[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int r = 0; r < 4; ++r)
#pragma unroll
                for (int s = 0; s < 4; ++s) sum[r][s] += p[r] * q[s];
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int s = 0; s < 4; ++s) {
            int i = i0 + 4 * y + r, j = j0 + 4 * x + s;
            if (i < M && j < N) c[(size_t)i * N + j] = sum[r][s];
        }
}
