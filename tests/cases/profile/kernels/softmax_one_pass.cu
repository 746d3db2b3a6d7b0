/* kernelwright
kernels:
  - name: short_rows
    when: "N <= 1024"
    grid: [M]
    block: 256
    args: [x, y, N]
  - name: middle_rows
    when: "N > 1024 && N <= 8192"
    grid: [M]
    block: 512
    args: [x, y, N]
  - name: long_rows
    when: "N > 8192"
    grid: [M]
    block: 1024
    args: [x, y, N]
*/
template <int Threads>
__device__ float block_reduce(float v, bool max) {
    __shared__ float part[Threads / 32];
    for (int o = 16; o > 0; o >>= 1) {
        float w = __shfl_xor_sync(0xffffffffu, v, o);
        v = max ? fmaxf(v, w) : v + w;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = part[0];
    for (int w = 1; w < Threads / 32; ++w) v = max ? fmaxf(v, part[w]) : v + part[w];
    return v;
}

// A row lives in the registers of its block: up to 16384 elements.
template <int Threads, int Each>
__device__ void softmax(const float* row, float* out, int N) {
    float v[Each], m = -INFINITY, sum = 0.0f;
#pragma unroll
    for (int k = 0; k < Each; ++k) {
        int c = k * Threads + threadIdx.x;
        v[k] = c < N ? row[c] : -INFINITY;
        m = fmaxf(m, v[k]);
    }
    m = block_reduce<Threads>(m, true);
#pragma unroll
    for (int k = 0; k < Each; ++k) {
        v[k] = expf(v[k] - m);
        sum += v[k];
    }
    float scale = 1.0f / block_reduce<Threads>(sum, false);
#pragma unroll
    for (int k = 0; k < Each; ++k) {
        int c = k * Threads + threadIdx.x;
        if (c < N) out[c] = v[k] * scale;
    }
}
extern "C" __global__ void short_rows(const float* x, float* y, int N) {
    softmax<256, 4>(x + (size_t)blockIdx.x * N, y + (size_t)blockIdx.x * N, N);
}
extern "C" __global__ void middle_rows(const float* x, float* y, int N) {
    softmax<512, 16>(x + (size_t)blockIdx.x * N, y + (size_t)blockIdx.x * N, N);
}
extern "C" __global__ void __launch_bounds__(1024) long_rows(const float* x, float* y, int N) {
    softmax<1024, 16>(x + (size_t)blockIdx.x * N, y + (size_t)blockIdx.x * N, N);
}
