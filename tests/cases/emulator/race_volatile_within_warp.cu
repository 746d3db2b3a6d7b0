// A volatile flag between lanes of one warp orders nothing: warp-synchronous code without __syncwarp.
// buffer: y output i32 32
// launch: k grid=1 block=32 args=y
// expect: shared-race line 9 other 8
extern "C" __global__ void k(int* y) {
    __shared__ volatile int s[32];
    int t = threadIdx.x;
    s[t] = t;
    y[t] = s[t ^ 1];
}
