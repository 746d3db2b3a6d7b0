// y = x transposed, N x N floats.
extern "C" __global__ void strided_stores(const float* __restrict__ x, float* __restrict__ y, int N) {
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) y[(size_t)c * N + r + k] = x[(size_t)(r + k) * N + c];
}

extern "C" __global__ void tile_32(const float* __restrict__ x, float* __restrict__ y, int N) {
    __shared__ float tile[32][32];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = x[(size_t)(r + k) * N + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) y[(size_t)(r + k) * N + c] = tile[threadIdx.x][threadIdx.y + k];
}

extern "C" __global__ void tile_33(const float* __restrict__ x, float* __restrict__ y, int N) {
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = x[(size_t)(r + k) * N + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) y[(size_t)(r + k) * N + c] = tile[threadIdx.x][threadIdx.y + k];
}
