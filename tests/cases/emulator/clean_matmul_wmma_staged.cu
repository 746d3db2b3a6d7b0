// buffer: a input f16 1221
// buffer: b input f16 1485
// buffer: c output f16 1665
// launch: hmm_wmma grid=2,2 block=128 args=a,b,c,i:37,i:45,i:33
// expect: clean
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void hmm_wmma(const half* __restrict__ a, const half* __restrict__ b, half* __restrict__ c, int M, int N, int K) {
    __shared__ __align__(32) half As[32 * 16];
    __shared__ __align__(32) half Bs[16 * 32];
    __shared__ __align__(32) float Cs[32 * 32];
    const int tid = threadIdx.x, warp = tid / 32;
    const int wr = warp / 2, wc = warp % 2;
    const int m0 = blockIdx.y * 32, n0 = blockIdx.x * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int i = tid; i < 512; i += 128) {
            int r = i / 16, k = i % 16;
            As[i] = (m0 + r < M && k0 + k < K) ? a[(size_t)(m0 + r) * K + k0 + k] : __float2half(0.f);
            int kk = i / 32, n = i % 32;
            Bs[i] = (k0 + kk < K && n0 + n < N) ? b[(size_t)(k0 + kk) * N + n0 + n] : __float2half(0.f);
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
        wmma::load_matrix_sync(fa, As + wr * 16 * 16, 16);
        wmma::load_matrix_sync(fb, Bs + wc * 16, 32);
        wmma::mma_sync(acc, fa, fb, acc);
        __syncthreads();
    }
    wmma::store_matrix_sync(Cs + wr * 16 * 32 + wc * 16, acc, 32, wmma::mem_row_major);
    __syncthreads();
    for (int i = tid; i < 1024; i += 128) {
        int r = m0 + i / 32, n = n0 + i % 32;
        if (r < M && n < N) c[(size_t)r * N + n] = __float2half(Cs[i]);
    }
}
