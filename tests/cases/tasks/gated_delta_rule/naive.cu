/* kernelwright
kernels:
  - name: gated_delta
    grid: ["ceil_div(H * Dv, 64)"]
    block: 64
    args: [q, k, v, beta, g, o, S, scale, T, H, Dk, Dv]
*/
// One thread for each column of one head's state.
extern "C" __global__ void gated_delta(const float* q, const float* k, const float* v, const float* beta, const float* g, float* o,
                                       float* S, float scale, int T, int H, int Dk, int Dv) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= H * Dv) return;
    int h = n / Dv, j = n % Dv;
    float state[64];
    for (int i = 0; i < 64; ++i) state[i] = 0.0f;
    for (int t = 0; t < T; ++t) {
        const float* key = k + (t * H + h) * Dk;
        const float* query = q + (t * H + h) * Dk;
        float decay = expf(g[t * H + h]);
        float answer = 0.0f;
        for (int i = 0; i < Dk; ++i) {
            state[i] *= decay;
            answer += state[i] * key[i];
        }
        float correction = beta[t * H + h] * (v[(t * H + h) * Dv + j] - answer);
        float result = 0.0f;
        for (int i = 0; i < Dk; ++i) {
            state[i] += key[i] * correction;
            result += state[i] * query[i];
        }
        o[(t * H + h) * Dv + j] = scale * result;
    }
    for (int i = 0; i < Dk; ++i) S[(h * Dk + i) * Dv + j] = state[i];
}
