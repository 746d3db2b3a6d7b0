// c[n, n] (f32) = a[n, n] * b[n, n] (f16) by mma.sync through mma.h: one warp per tile of 16 x 16.
#include <cuda_fp16.h>
#include <mma.h>
extern "C" __global__ void tensor_matmul(const __half* a, const __half* b, float* c, int n) {
    using namespace nvcuda::wmma;
    const int row = blockIdx.y * 16, col = (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 16;
    fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, __half, row_major> fb;
    fragment<accumulator, 16, 16, 16, float> fc;
    fill_fragment(fc, 0.f);
    for (int k = 0; k < n; k += 16) {
        load_matrix_sync(fa, a + row * n + k, n);
        load_matrix_sync(fb, b + k * n + col, n);
        mma_sync(fc, fa, fb, fc);
    }
    store_matrix_sync(c + row * n + col, fc, n, mem_row_major);
}
