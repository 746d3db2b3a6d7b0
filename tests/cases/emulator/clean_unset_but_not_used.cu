// buffer: x input f32 64
// buffer: h input f16 61
// buffer: y output f32 64
// buffer: g output f16 61
// buffer: b output f16 61
// buffer: e output f16 61
// buffer: k output i32 64
// launch: tail_pairs grid=1 block=32 args=h,g,i:61
// launch: tail_bfloats grid=1 block=32 args=h,b,i:61
// launch: tail_float grid=1 block=32 args=h,y,i:61
// launch: tail_eight grid=1 block=8 args=h,e,i:61
// launch: best grid=1 block=32 args=x,k,i:64
// launch: guarded grid=1 block=32 args=x,y,i:20
// launch: both grid=1 block=32 args=x,y,i:20
// launch: rows grid=1 block=32 args=x,y,i:20
// launch: broadcast grid=1 block=32 args=x,y,i:20
// launch: late grid=1 block=32 args=x,y,i:20
// launch: bytes grid=1 block=32 args=x,k,i:61
// launch: double_half grid=1 block=32 args=x,y,i:20
// launch: in_shared grid=1 block=32 args=x,y,i:20
// expect: clean
// What was never set is copied about, computed with and dropped.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void tail_pairs(const __half* x, __half* y, int N) {
    int i = 2 * threadIdx.x;
    __half2 v;
    if (i < N) v.x = x[i];
    if (i + 1 < N) v.y = x[i + 1];
    v = __hmul2(v, v);
    v = __hmax2(v, __float2half2_rn(0.f));
    if (i < N) y[i] = v.x;
    if (i + 1 < N) y[i + 1] = v.y;
}
extern "C" __global__ void tail_bfloats(const __nv_bfloat16* x, __nv_bfloat16* y, int N) {
    int i = 2 * threadIdx.x;
    __nv_bfloat162 v;
    if (i < N) v.x = x[i];
    if (i + 1 < N) v.y = x[i + 1];
    v = __hmul2(v, v);
    if (i < N) y[i] = v.x;
    if (i + 1 < N) y[i + 1] = v.y;
}
extern "C" __global__ void tail_float(const __half* x, float* y, int N) {
    int i = 2 * threadIdx.x;
    __half2 v;
    if (i < N) v.x = x[i];
    if (i + 1 < N) v.y = x[i + 1];
    float2 f = __half22float2(v);
    float s = 0;
    if (i < N) s += f.x;
    if (i + 1 < N) s += f.y;
    y[threadIdx.x] = s;
}
union Eight {
    float4 f;
    __half h[8];
};
extern "C" __global__ void tail_eight(const __half* x, __half* y, int N) {
    Eight u;
    __shared__ float4 t[8];
    for (int j = 0; j < 8; j++)
        if (8 * threadIdx.x + j < N) u.h[j] = x[8 * threadIdx.x + j];
    t[threadIdx.x] = u.f;
    __syncthreads();
    u.f = t[threadIdx.x];
    for (int j = 0; j < 8; j++)
        if (8 * threadIdx.x + j < N) y[8 * threadIdx.x + j] = __hmul(u.h[j], u.h[j]);
}
extern "C" __global__ void best(const float* x, int* k, int N) {
    float m = -3e38f;
    int at;
    for (int i = threadIdx.x; i < N; i += 32)
        if (x[i] > m) m = x[i], at = i;
    for (int o = 16; o; o >>= 1) {
        float q = __shfl_xor_sync(~0u, m, o);
        int d = __shfl_xor_sync(~0u, at, o);
        if (q > m || (q == m && d < at)) m = q, at = d;
    }
    k[threadIdx.x] = at;
}
extern "C" __global__ void guarded(const float* x, float* y, int N) {
    float v;
    bool in = threadIdx.x < N;
    if (in) v = x[threadIdx.x];
    __syncthreads();
    if (in) y[threadIdx.x] = v * 2.f;
}
extern "C" __global__ void both(const float* x, float* y, int N) {
    float v;
    if (threadIdx.x < N) v = x[threadIdx.x];
    __syncwarp();
    y[threadIdx.x] = threadIdx.x < N && v > 1.f ? 1.f : 0.f;
}
extern "C" __global__ void rows(const float* x, float* y, int N) {
    float v[4];
    for (int j = 0; j < 4; j++)
        if (threadIdx.x + j < N) v[j] = x[threadIdx.x + j];
    __syncwarp();
    float s = 0;
    for (int j = 0; j < 4; j++)
        if (threadIdx.x + j < N) s += v[j];
    y[threadIdx.x] = s;
}
extern "C" __global__ void broadcast(const float* x, float* y, int N) {
    float v, w;
    if (threadIdx.x == 0) v = x[N];
    v = __shfl_sync(~0u, v, 0);
    if (threadIdx.x < 16) w = x[threadIdx.x];
    float down = __shfl_down_sync(~0u, w, 8);
    y[threadIdx.x] = threadIdx.x < 8 ? v + down : v;
}
extern "C" __global__ void late(const float* x, float* y, int N) {
    float last;
    for (int i = 0; i < N; i++) {
        float v = x[i];
        if (i > 0) v += last;
        last = v;
    }
    y[threadIdx.x] = last;
}
extern "C" __global__ void bytes(const unsigned char* x, int* k, int N) {
    uchar4 c;
    int i = 4 * (threadIdx.x & 15);
    if (i < N) c.x = x[i];
    if (i + 1 < N) c.y = x[i + 1];
    if (i + 2 < N) c.z = x[i + 2];
    if (i + 3 < N) c.w = x[i + 3];
    unsigned v = __byte_perm(c.x | c.y << 8, c.z | c.w << 8, 0x4501);
    int s = 0;
    if (i < N) s += v >> 24;
    if (i + 1 < N) s += v >> 16 & 255;
    if (i + 2 < N) s += v >> 8 & 255;
    k[threadIdx.x] = s;
}
extern "C" __global__ void double_half(const float* x, float* y, int N) {
    union {
        double d;
        float f[2];
    } u;
    u.f[0] = x[threadIdx.x];
    if (threadIdx.x < N) u.f[1] = x[threadIdx.x + 1];
    u.d = __shfl_xor_sync(~0u, u.d, 0);
    y[threadIdx.x] = u.f[0];
}
extern "C" __global__ void in_shared(const float* x, float* y, int N) {
    __shared__ float t[32];
    float v;
    if (threadIdx.x < N) v = x[threadIdx.x];
    t[threadIdx.x] = v;
    __syncthreads();
    float s = 0;
    for (int i = 0; i < N; i++) s += t[i];
    y[threadIdx.x] = s;
}
