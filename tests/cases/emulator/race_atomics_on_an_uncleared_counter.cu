// buffer: y output i32 64
// launch: k grid=1 block=64 args=y
// either: shared-race line 8 other 12
// either: uninitialised-read line 12
extern "C" __global__ void k(int* y) {
    __shared__ int counter;
    if (threadIdx.x == 0)
        counter = 0;
    // __syncthreads() is missing; the first warp's atomics come after the store, the second's need not.
    __syncwarp();
    const int ticket =
        atomicAdd(&counter, 1);
    y[ticket & 63] = 1;
}
