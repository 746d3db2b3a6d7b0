/* kernelwright
kernels:
  - name: topk_rows
    grid: ["ceil_div(M, 32)"]
    block: 32
    args: [x, values, indices, M, N]
*/
// The next entry is the largest of those that come after the last one taken, in the order "greater value first, then smaller column".
extern "C" __global__ void topk_rows(const float* x, float* values, int* indices, int M, int N) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    const float* row = x + (long long)r * N;
    int last = -1;
    for (int j = 0; j < 8; ++j) {
        int best = -1;
        for (int c = 0; c < N; ++c) {
            bool after = last < 0 || row[c] < row[last] || (row[c] == row[last] && c > last);
            if (after && (best < 0 || row[c] > row[best])) best = c;
        }
        values[r * 8 + j] = row[best];
        indices[r * 8 + j] = best;
        last = best;
    }
}
