/* kernelwright
kernels:
  - name: depthwise
    grid: ["ceil_div(B * C * ceil_div(H, 2) * ceil_div(W, 2), 256)"]
    block: 256
    args: [x, w, bias, y, B, C, H, W]
*/
extern "C" __global__ void depthwise(const float* x, const float* w, const float* bias, float* y, int B, int C, int H, int W) {
    int rows = (H + 1) / 2, columns = (W + 1) / 2;
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= B * C * rows * columns) return;
    int j = t % columns, i = t / columns % rows, plane = t / columns / rows, c = plane % C;
    float sum = 0.0f;
    for (int u = 0; u < 3; ++u) {
        for (int v = 0; v < 3; ++v) {
            int row = 2 * i + u - 1, column = 2 * j + v - 1;
            if (row < 0 || row >= H || column < 0 || column >= W) continue;
            sum += x[(plane * H + row) * W + column] * w[c * 9 + u * 3 + v];
        }
    }
    y[t] = sum + bias[c];
}
