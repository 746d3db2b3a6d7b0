// buffer: x input f32 900
// buffer: y output f32 900
// launch: softmax grid=3 block=256 args=x,y,i:300
// expect: shared-race
// also: uninitialised-read
extern "C" __global__ void softmax(const float* x, float* y, int N) {
    __shared__ float red[256];
    int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * N;
    float m = -3.402823466e38f;
    for (int c = t; c < N; c += 256) m = fmaxf(m, row[c]);
    red[t] = m;
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) red[t] = fmaxf(red[t], red[t + s]);
        __syncthreads();
    }
    m = red[0];
    __syncthreads();
    float sum = 0.f;
    for (int c = t; c < N; c += 256) sum += expf(row[c] - m);
    red[t] = sum;
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) red[t] += red[t + s];
        __syncthreads();
    }
    float inv = 1.f / red[0];
    for (int c = t; c < N; c += 256) y[(size_t)blockIdx.x * N + c] = expf(row[c] - m) * inv;
}
