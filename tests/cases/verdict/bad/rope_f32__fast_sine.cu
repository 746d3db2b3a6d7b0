/* kernelwright
kernels:
  - {name: rope, grid: ["ceil_div(S * H * (D / 2), 128)"], block: 128, args: [x, y, base, S, H, D]}
*/
// expect: numerics wrong-value (__sinf and __cosf of hundreds of radians)
extern "C" __global__ void rope(const float* x, float* y, float base, int S, int H, int D) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, half = D / 2;
    if (t >= S * H * half) return;
    int i = t % half, head = t / half, s = head / H;
    float theta = s * powf(base, -2.0f * i / D), c = __cosf(theta), n = __sinf(theta);
    float a = x[head * D + i], b = x[head * D + i + half];
    y[head * D + i] = a * c - b * n;
    y[head * D + i + half] = b * c + a * n;
}
