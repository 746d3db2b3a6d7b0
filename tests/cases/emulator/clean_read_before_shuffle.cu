// buffer: x input i32 64 mod 100
// launch: k grid=1 block=64 args=x
// expect: clean
extern "C" __global__ void k(const int* x) {
    __shared__ int total[2];
    int warp = threadIdx.x / 32;
    for (int round = 0; round < 3; ++round) {
        int v = x[threadIdx.x] + round;
        for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
        if (threadIdx.x % 32 == 0) total[warp] = v;  // the lanes' reads of the round before lie before the shuffles
        __syncthreads();
        if (total[warp] != v) __trap();
    }
}
