// buffer: y output i32 32
// launch: k grid=1 block=32 args=y,i:100000
// expect: stack-overflow
__device__ __noinline__ int down(int n, int* p) { int a[16]; for (int i = 0; i < 16; ++i) a[i] = n + i; *p += a[n & 15]; return n == 0 ? 0 : down(n - 1, a) + a[n % 7]; }
extern "C" __global__ void k(int* y, int n) { int z = 0; y[threadIdx.x] = down(n, &z); }
