/* kernelwright
kernels:
  - name: matmul
    grid: ["ceil_div(N, 64)", "ceil_div(M, 64)"]
    block: 256
    args: [a, b, c, M, N, K]
*/
// Two tiles in shared memory: the next one is copied while this one is used.
__device__ void copy(float* to, const float* from, bool inside) {
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(inside ? 4 : 0) : "memory");
}
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int M, int N, int K) {
    __shared__ float left[2][16][68], right[2][16][64];
    int t = threadIdx.x, x = t % 16, y = t / 16, i0 = blockIdx.y * 64, j0 = blockIdx.x * 64;
    float sum[4][4] = {};
    auto fetch = [&](int stage, int k0) {
        for (int e = t; e < 1024; e += 256) {
            int r = e / 16, k = e % 16, q = e / 64, j = e % 64;
            bool in = i0 + r < M && k0 + k < K;
            copy(&left[stage][k][r], in ? a + (size_t)(i0 + r) * K + k0 + k : a, in);
            in = k0 + q < K && j0 + j < N;
            copy(&right[stage][q][j], in ? b + (size_t)(k0 + q) * N + j0 + j : b, in);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    fetch(0, 0);
    int stage = 0;
    for (int k0 = 0; k0 < K; k0 += 16, stage ^= 1) {
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads();
        if (k0 + 16 < K) fetch(stage ^ 1, k0 + 16);
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            float4 u = *(const float4*)&left[stage][k][4 * y], v = *(const float4*)&right[stage][k][4 * x];
            float p[4] = {u.x, u.y, u.z, u.w}, q[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int r = 0; r < 4; ++r)
#pragma unroll
                for (int s = 0; s < 4; ++s) sum[r][s] += p[r] * q[s];
        }
    }
    for (int r = 0; r < 4; ++r)
        for (int s = 0; s < 4; ++s) {
            int i = i0 + 4 * y + r, j = j0 + 4 * x + s;
            if (i < M && j < N) c[(size_t)i * N + j] = sum[r][s];
        }
}
