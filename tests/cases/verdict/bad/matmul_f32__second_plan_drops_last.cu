/* kernelwright
when: "K % 4 == 0"
kernels:
  - {name: "product<0>", grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"], block: [16, 16], args: [a, b, c, M, N, K]}
*/
/* kernelwright
kernels:
  - {name: "product<1>", grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"], block: [16, 16], args: [a, b, c, M, N, K]}
*/
// expect: numerics wrong-value (the second plan leaves out the last term)
// expect-line: 8
// expect-kernel: product<1>
template <int Dropped>
__global__ void product(const float* a, const float* b, float* c, int M, int N, int K) {
    const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
    if (i >= M || j >= N) return;
    float sum = 0;
    for (int k = 0; k < K - Dropped; ++k) sum += a[i * K + k] * b[k * N + j];
    c[i * N + j] = sum;
}
