/* kernelwright
kernels:
  - name: conv2d
    grid: ["ceil_div(B * F * H * W, 256)"]
    block: 256
    args: [x, w, bias, y, B, C, F, H, W]
*/
extern "C" __global__ void conv2d(const float* x, const float* w, const float* bias, float* y, int B, int C, int F, int H, int W) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= B * F * H * W) return;
    int j = t % W, i = t / W % H, f = t / W / H % F, n = t / W / H / F;
    float sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        for (int u = 0; u < 3; ++u) {
            for (int v = 0; v < 3; ++v) {
                int row = i + u - 1, column = j + v - 1;
                if (row < 0 || row >= H || column < 0 || column >= W) continue;
                sum += x[((n * C + c) * H + row) * W + column] * w[((f * C + c) * 3 + u) * 3 + v];
            }
        }
    }
    y[t] = sum + bias[f];
}
