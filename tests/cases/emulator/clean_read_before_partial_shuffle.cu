// buffer: x input i32 32 mod 100
// launch: k grid=1 block=32 args=x
// expect: clean
extern "C" __global__ void k(const int* x) {
    __shared__ int s[32];
    s[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    if (threadIdx.x > 0) {
        int before = s[threadIdx.x - 1];
        int first = __shfl_sync(0xfffffffeu, before, 1);
        s[threadIdx.x] = before + first;
    }
}
