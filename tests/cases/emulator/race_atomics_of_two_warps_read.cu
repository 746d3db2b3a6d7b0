// buffer: y output i32 64
// launch: k grid=1 block=64 args=y
// expect: shared-race line 9 other 11
extern "C" __global__ void k(int* y) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    const int i = threadIdx.x;
    atomicAdd(&sum, i);
    __syncwarp();  // __syncthreads() is missing
    y[i] = sum;
}
