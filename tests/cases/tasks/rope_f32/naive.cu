/* kernelwright
kernels:
  - name: rope
    grid: ["ceil_div(S * H * (D / 2), 256)"]
    block: 256
    args: [x, y, {value: base, dtype: f32}, S, H, D]
*/
extern "C" __global__ void rope(const float* x, float* y, float base, int S, int H, int D) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int half = D / 2;
    if (t >= S * H * half) return;
    int i = t % half, head = t / half, s = head / H;
    float theta = s * powf(base, -2.0f * i / D);
    float cosine = cosf(theta), sine = sinf(theta);
    float a = x[head * D + i], b = x[head * D + i + half];
    y[head * D + i] = a * cosine - b * sine;
    y[head * D + i + half] = b * cosine + a * sine;
}
