// buffer: x input i32 3000 mod 37
// buffer: y output i32 37
// launch: zero grid=1 block=256 args=y,i:37
// launch: hist_shared grid=3 block=256 shared=148 args=x,y,i:3000,i:37
// expect: clean
extern "C" __global__ void zero(unsigned* y, int B) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < B) y[i] = 0u;
}
extern "C" __global__ void hist_shared(const int* __restrict__ x, unsigned* y, int N, int B) {
    extern __shared__ unsigned bins[];
    for (int b = threadIdx.x; b < B; b += blockDim.x) bins[b] = 0u;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) atomicAdd(&bins[x[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < B; b += blockDim.x)
        if (bins[b]) atomicAdd(&y[b], bins[b]);
}
