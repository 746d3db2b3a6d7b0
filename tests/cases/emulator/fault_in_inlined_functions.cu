// buffer: x input f32 64
// buffer: y output f32 64
// launch: k grid=1 block=64 args=x,y
// expect: shared-race line 12 other 8 via 15 via 21 via 22
// expect: out-of-bounds line 10 via 25
// also: uninitialised-read
__device__ __forceinline__ float* slot(float* s, int i) { return s + i; }
__device__ __forceinline__ float take(float* s, int i) { return *slot(s, i); }
// Reads past the end when it is asked to.
__device__ __forceinline__ float read(const float* x, int i) { return x[i]; }
__device__ __forceinline__ void put(float* s, int i, float v) {
    *slot(s, i) = v;
}
__device__ __forceinline__ void fill(float* s, float v) {
    put(s, threadIdx.x, v);
}
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ float s[64];
    const int t = threadIdx.x;
    const float v = read(x, t);
    fill(s, v);
    const float w = take(s, 63 - t);
    y[t] = w;
    __syncthreads();
    if (t == 5) y[t] = read(x, t + 60);
}
