// buffer: x input f32 300
// buffer: y output f32 300
// launch: softmax grid=3 block=128 args=x,y,i:100
// expect: divergent-barrier
// also: uninitialised-read
// also: shared-race
extern "C" __global__ void softmax(const float* x, float* y, int N) {
    __shared__ float red[128];
    int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * N;
    float m = -3.402823466e38f;
    for (int c = t; c < N; c += 128) m = fmaxf(m, row[c]);
    red[t] = m;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s) {
            red[t] = fmaxf(red[t], red[t + s]);
            __syncthreads();
        }
    }
    __syncthreads();
    m = red[0];
    __syncthreads();
    float sum = 0.f;
    for (int c = t; c < N; c += 128) sum += expf(row[c] - m);
    red[t] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s) red[t] += red[t + s];
        __syncthreads();
    }
    for (int c = t; c < N; c += 128) y[(size_t)blockIdx.x * N + c] = expf(row[c] - m) / red[0];
}
