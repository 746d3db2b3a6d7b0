/* kernelwright
kernels:
  - name: sum_rows
    grid: ["ceil_div(M, 2)"]
    block: [32, 2]
    args: [x, y, M, N]
*/
// A lane loads 128 elements before it adds the first: more than 128 registers.
extern "C" __global__ void sum_rows(const float* x, float* y, int M, int N) {
    int r = blockIdx.x * 2 + threadIdx.y;
    if (r >= M) return;
    const float* row = x + (size_t)r * N;
    float sum = 0.0f;
    for (int c0 = 0; c0 < N; c0 += 4096) {
        float v[128];
#pragma unroll
        for (int k = 0; k < 128; ++k) {
            int c = c0 + k * 32 + threadIdx.x;
            v[k] = 0.0f;
            if (c < N) asm volatile("ld.volatile.global.f32 %0, [%1];" : "+f"(v[k]) : "l"(row + c));
        }
#pragma unroll
        for (int k = 127; k >= 0; --k) asm volatile("add.f32 %0, %0, %1;" : "+f"(sum) : "f"(v[k]));
    }
    for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
    if (threadIdx.x == 0) y[r] = sum;
}
