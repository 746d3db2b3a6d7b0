// buffer: x input i32 32 mod 100
// launch: k grid=1 block=32 args=x
// expect: shared-race line 9
extern "C" __global__ void k(const int* x) {
    __shared__ int s[32];
    int v = x[threadIdx.x];
    s[threadIdx.x] = v;
    v = __shfl_xor_sync(0xffffffffu, v, 1);
    if (s[threadIdx.x ^ 1] != v) __trap();
}
