// buffer: x input f32 1000
// buffer: part scratch f32 4
// buffer: ready scratch i32 4
// buffer: y output f32 1
// launch: clear grid=1 block=256 args=ready,i:1000
// launch: sum grid=4 block=256 args=x,part,ready,y,i:1000
// expect: inter-block-wait
extern "C" __global__ void clear(int* ready, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < (N + 255) / 256) ready[i] = 0;
}
extern "C" __global__ void sum(const float* x, volatile float* part, volatile int* ready, float* y, int N) {
    __shared__ float s[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = i < N ? x[i] : 0.f;
    __syncthreads();
    for (int k = 128; k; k >>= 1) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        part[blockIdx.x] = s[0];
        __threadfence();
        ready[blockIdx.x] = 1;
        if (blockIdx.x == 0) {
            float v = 0.f;
            for (int b = 0; b < (int)gridDim.x; ++b) {
                while (ready[b] == 0) { }
                v += part[b];
            }
            y[0] = v;
        }
    }
}
