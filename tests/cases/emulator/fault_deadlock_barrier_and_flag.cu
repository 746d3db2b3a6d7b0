// buffer: y output i32 1
// launch: k grid=1 block=64 args=y
// expect: deadlock
extern "C" __global__ void k(int* y) {
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x >= 32) {
        while (flag == 0) { }
    }
    __syncthreads();
    if (threadIdx.x == 0) { flag = 1; y[0] = 1; }
}
