// buffer: x input i32 256 mod 5
// buffer: y output i32 1
// launch: k grid=1 block=256 args=x,y
// expect: clean
extern "C" __global__ void k(const int* x, int* y) {
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (x[threadIdx.x] == 4) found = 1;
    __syncthreads();
    if (threadIdx.x == 0) y[0] = found;
}
