/* kernelwright
kernels:
  - name: add4
    when: "N % 4 == 0"
    grid: ["ceil_div(N, 1024)"]
    block: 256
    args: [a, b, y, N]
  - name: add
    when: "N % 4 != 0"
    grid: ["ceil_div(N, 256)"]
    block: 256
    args: [a, b, y, N]
*/
extern "C" __global__ void add4(const float4* a, const float4* b, float4* y, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= N / 4) return;
    float4 u = a[i], v = b[i];
    y[i] = make_float4(u.x + v.x, u.y + v.y, u.z + v.z, u.w + v.w);
}
extern "C" __global__ void add(const float* a, const float* b, float* y, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) y[i] = a[i] + b[i];
}
