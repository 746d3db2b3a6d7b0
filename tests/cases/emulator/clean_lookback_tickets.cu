// buffer: x input i32 1024 mod 7
// buffer: y output i32 1024
// buffer: state inout i64 8
// buffer: ticket inout i32 1
// launch: scan grid=8 block=128 args=x,y,state,ticket
// expect: clean
extern "C" __global__ void scan(const int* x, int* y, volatile unsigned long long* state, unsigned* ticket) {
    __shared__ int s[128];
    __shared__ unsigned id;
    __shared__ int prefix;
    int t = threadIdx.x;
    if (t == 0) id = atomicAdd(ticket, 1u);
    __syncthreads();
    int b = id;
    s[t] = x[b * 128 + t];
    __syncthreads();
    for (int d = 1; d < 128; d <<= 1) {
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (t == 0) {
        int p = 0;
        if (b > 0) {
            unsigned long long v;
            do { v = state[b - 1]; } while ((v >> 32) == 0);
            p = (int)v;
        }
        __threadfence();
        state[b] = (1ull << 32) | (unsigned)(p + s[127]);
        prefix = p;
    }
    __syncthreads();
    y[b * 128 + t] = s[t] + prefix;
}
