// buffer: x input f32 64
// buffer: h input f16 128
// buffer: y output f32 64
// buffer: g output f16 128
// buffer: k output i32 64
// buffer: z inout f32 64
// launch: sum grid=1 block=32 args=x,y,i:64
// launch: chunks grid=1 block=32 args=x,y,i:64
// launch: moments grid=1 block=32 args=x,y,i:64
// launch: halves grid=1 block=32 args=h,g,i:64
// launch: pairs grid=1 block=32 args=h,g,i:64
// launch: bfloats grid=1 block=32 args=h,g,i:64
// launch: counted grid=1 block=32 args=x,k,i:64
// launch: index grid=1 block=32 args=x,y,k,i:64
// launch: threshold grid=1 block=32 args=x,y,i:64
// launch: added grid=1 block=32 args=x,z,i:64
// launch: passed grid=1 block=32 args=x,y,i:64
// launch: through_shared grid=1 block=32 args=x,y,i:64
// launch: by_place grid=1 block=32 args=x,y,i:64
// expect: uninitialised-read line 38 other 39
// expect: uninitialised-read line 45 other 47
// expect: uninitialised-read line 56 other 58
// expect: uninitialised-read line 63 other 64
// expect: uninitialised-read line 68 other 69
// expect: uninitialised-read line 73 other 74
// expect: uninitialised-read line 78 other 79
// expect: uninitialised-read line 84 other 86
// expect: uninitialised-read line 92 other 92
// expect: uninitialised-read line 100 other 101
// expect: uninitialised-read line 107 other 109
// expect: uninitialised-read line 114 other 117
// expect: uninitialised-read line 122 other 122
// Variables that were never given a value, in all the places where NVRTC keeps them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void sum(const float* x, float* y, int N) {
    float s;
    for (int i = threadIdx.x; i < N; i += 32) s += x[i];
    y[threadIdx.x] = s;
}
extern "C" __global__ void chunks(const float* x, float* y, int N) {
    float a[4];
    for (int i = threadIdx.x; i < N; i += 32)
        for (int j = 0; j < 4; j++)
            a[j] = fmaf(x[i], float(j), a[j]);
    for (int j = 0; j < 2; j++)
        y[2 * threadIdx.x + j] = a[j] + a[j + 2];
}
struct Moments {
    float first, second;
};
extern "C" __global__ void moments(const float* x, float* y, int N) {
    Moments m;
    m.first = 0;
    for (int i = threadIdx.x; i < N; i += 32)
        m.second += x[i] * x[i], m.first += x[i];
    y[threadIdx.x] = m.first;
    y[threadIdx.x + 32] =
        m.second;
}
extern "C" __global__ void halves(const __half* x, __half* y, int N) {
    __half s;
    for (int i = threadIdx.x; i < N; i += 32) s = __hadd(s, x[i]);
    y[threadIdx.x] = s;
}
extern "C" __global__ void pairs(const __half2* x, __half2* y, int N) {
    __half2 s;
    for (int i = threadIdx.x; i < N; i += 32) s = __hadd2(s, x[i]);
    y[threadIdx.x] = s;
}
extern "C" __global__ void bfloats(const __nv_bfloat162* x, __nv_bfloat162* y, int N) {
    __nv_bfloat162 s;
    for (int i = threadIdx.x; i < N; i += 32) s = __hfma2(x[i], x[i], s);
    y[threadIdx.x] = s;
}
extern "C" __global__ void counted(const float* x, int* k, int N) {
    int n;
    for (int i = threadIdx.x; i < N; i += 32) n += x[i] > 1.f;
    k[threadIdx.x] = n;
}
extern "C" __global__ void index(const float* x, float* y, const int* k, int N) {
    int at;
    for (int i = threadIdx.x; i < N; i += 32)
        at += x[i] > 3.f;
    y[threadIdx.x] =
        x[at & 15];
}
extern "C" __global__ void threshold(const float* x, float* y, int N) {
    float best;
    for (int i = threadIdx.x; i < N; i += 32) {
        float v = x[i];
        if (v > best) best = v, y[i & 31] = v;
    }
    y[threadIdx.x] = best;
}
extern "C" __global__ void added(const float* x, float* z, int N) {
    float s;
    for (int i = threadIdx.x; i < N; i += 32)
        s -=
            x[i];
    atomicAdd(z, s);
}
__noinline__ __device__ float twice(float v) { return v + v; }
extern "C" __global__ void passed(const float* x, float* y, int N) {
    float s;
    for (int i = threadIdx.x; i < N; i += 32)
        s = fmaxf(s,
                  x[i]);
    y[threadIdx.x] = twice(s);
}
extern "C" __global__ void through_shared(const float* x, float* y, int N) {
    __shared__ float t[32];
    float s;
    for (int i = threadIdx.x; i < N; i += 32) s += x[i];
    t[threadIdx.x] = s;
    __syncthreads();
    y[threadIdx.x] = t[threadIdx.x ^ 1];
}
extern "C" __global__ void by_place(const float* x, float* y, int N) {
    float a[32];
    for (int i = threadIdx.x; i < N; i += 32) a[i & 31] = x[i];
    y[threadIdx.x] = a[(int(x[threadIdx.x]) + threadIdx.x) & 31];
}
