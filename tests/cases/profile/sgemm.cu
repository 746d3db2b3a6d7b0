// c = a b, N x N floats, N a multiple of 128.

// Lanes of a warp walk down the rows of a.
extern "C" __global__ void lanes_down_rows(const float* __restrict__ a, const float* __restrict__ b,
                                           float* __restrict__ c, int N) {
    int row = blockIdx.x * 32 + threadIdx.x, column = blockIdx.y * 32 + threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < N; ++k) sum += a[(size_t)row * N + k] * b[(size_t)k * N + column];
    c[(size_t)row * N + column] = sum;
}

extern "C" __global__ void lanes_along_columns(const float* __restrict__ a, const float* __restrict__ b,
                                               float* __restrict__ c, int N) {
    int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < N; ++k) sum += a[(size_t)row * N + k] * b[(size_t)k * N + column];
    c[(size_t)row * N + column] = sum;
}

extern "C" __global__ void shared_tiles(const float* __restrict__ a, const float* __restrict__ b,
                                        float* __restrict__ c, int N) {
    __shared__ float at[32][32], bt[32][32];
    int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < N; k0 += 32) {
        at[threadIdx.y][threadIdx.x] = a[(size_t)row * N + k0 + threadIdx.x];
        bt[threadIdx.y][threadIdx.x] = b[(size_t)(k0 + threadIdx.y) * N + column];
        __syncthreads();
        for (int k = 0; k < 32; ++k) sum += at[threadIdx.y][k] * bt[k][threadIdx.x];
        __syncthreads();
    }
    c[(size_t)row * N + column] = sum;
}

// 64 x 64 outputs a block, eight of a column each thread. block 512
extern "C" __global__ void eight_outputs(const float* __restrict__ a, const float* __restrict__ b,
                                         float* __restrict__ c, int N) {
    __shared__ float at[64 * 8], bt[8 * 64];
    const int t = threadIdx.x, column = t % 64, row = t / 64;
    a += (size_t)blockIdx.y * 64 * N;
    b += blockIdx.x * 64;
    c += (size_t)blockIdx.y * 64 * N + blockIdx.x * 64;
    float sum[8] = {};
    for (int k0 = 0; k0 < N; k0 += 8) {
        at[t] = a[(size_t)(t / 8) * N + k0 + t % 8];
        bt[t] = b[(size_t)(k0 + t / 64) * N + t % 64];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            float value = bt[k * 64 + column];
#pragma unroll
            for (int i = 0; i < 8; ++i) sum[i] += at[(row * 8 + i) * 8 + k] * value;
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) c[(size_t)(row * 8 + i) * N + column] = sum[i];
}

// 128 x 128 outputs a block, 8 x 8 each thread. block 256
template <bool wide>
__device__ void patches(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int N) {
    __shared__ __align__(16) float at[8 * 128];  // wide: transposed
    __shared__ __align__(16) float bt[8 * 128];
    const int t = threadIdx.x, column = t % 16, row = t / 16;
    a += (size_t)blockIdx.y * 128 * N;
    b += blockIdx.x * 128;
    c += (size_t)blockIdx.y * 128 * N + blockIdx.x * 128;
    float sum[8][8] = {};
    for (int k0 = 0; k0 < N; k0 += 8) {
        if (wide) {
            float4 v = *reinterpret_cast<const float4*>(&a[(size_t)(t / 2) * N + k0 + t % 2 * 4]);
            at[(t % 2 * 4 + 0) * 128 + t / 2] = v.x;
            at[(t % 2 * 4 + 1) * 128 + t / 2] = v.y;
            at[(t % 2 * 4 + 2) * 128 + t / 2] = v.z;
            at[(t % 2 * 4 + 3) * 128 + t / 2] = v.w;
            *reinterpret_cast<float4*>(&bt[t / 32 * 128 + t % 32 * 4]) =
                *reinterpret_cast<const float4*>(&b[(size_t)(k0 + t / 32) * N + t % 32 * 4]);
        } else {
            for (int i = 0; i < 4; ++i) {
                at[i * 256 + t] = a[(size_t)(i * 32 + t / 8) * N + k0 + t % 8];
                bt[i * 256 + t] = b[(size_t)(k0 + i * 2 + t / 128) * N + t % 128];
            }
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            float x[8], y[8];
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                x[i] = wide ? at[k * 128 + row * 8 + i] : at[(row * 8 + i) * 8 + k];
                y[i] = bt[k * 128 + column * 8 + i];
            }
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) sum[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; j += wide ? 4 : 1)
            if (wide)
                *reinterpret_cast<float4*>(&c[(size_t)(row * 8 + i) * N + column * 8 + j]) =
                    make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
            else
                c[(size_t)(row * 8 + i) * N + column * 8 + j] = sum[i][j];
}
extern "C" __global__ void __launch_bounds__(256) patches_scalar(const float* __restrict__ a,
                                                                 const float* __restrict__ b,
                                                                 float* __restrict__ c, int N) {
    patches<false>(a, b, c, N);
}
extern "C" __global__ void __launch_bounds__(256) patches_wide(const float* __restrict__ a,
                                                               const float* __restrict__ b,
                                                               float* __restrict__ c, int N) {
    patches<true>(a, b, c, N);
}
