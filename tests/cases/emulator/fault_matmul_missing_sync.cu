// buffer: a input f32 1665
// buffer: b input f32 2250
// buffer: c output f32 1850
// launch: mm grid=4,3 block=16,16 args=a,b,c,i:37,i:50,i:45
// expect: shared-race
#define T 16
extern "C" __global__ void mm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int M, int N, int K) {
    __shared__ float As[T][T], Bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0.f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = (row < M && k0 + tx < K) ? a[(size_t)row * K + k0 + tx] : 0.f;
        Bs[ty][tx] = (k0 + ty < K && col < N) ? b[(size_t)(k0 + ty) * N + col] : 0.f;
        __syncthreads();
        for (int k = 0; k < T; ++k) acc += As[ty][k] * Bs[k][tx];
    }
    if (row < M && col < N) c[(size_t)row * N + col] = acc;
}
