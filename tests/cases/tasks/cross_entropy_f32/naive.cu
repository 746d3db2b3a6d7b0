/* kernelwright
kernels:
  - name: cross_entropy
    grid: ["ceil_div(M, 128)"]
    block: 128
    args: [logits, target, loss, M, N]
*/
extern "C" __global__ void cross_entropy(const float* logits, const int* target, float* loss, int M, int N) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    const float* row = logits + (long long)r * N;
    float m = row[0];
    for (int c = 1; c < N; ++c) m = fmaxf(m, row[c]);
    float sum = 0.0f;
    for (int c = 0; c < N; ++c) sum += expf(row[c] - m);
    loss[r] = logf(sum) + (m - row[target[r]]);
}
