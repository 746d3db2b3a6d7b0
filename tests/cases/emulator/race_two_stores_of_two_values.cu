// buffer: y output i32 1
// launch: k grid=1 block=64 args=y
// expect: shared-race line 7 other 6
extern "C" __global__ void k(int* y) {
    __shared__ int found;
    if (threadIdx.x == 0) found = 1; asm volatile("" ::: "memory");
    if (threadIdx.x == 33) found = 2;
    __syncthreads();
    if (threadIdx.x == 0) *y = found;
}
