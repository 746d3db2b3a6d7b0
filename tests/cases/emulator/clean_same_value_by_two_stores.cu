// buffer: x input f32 256 mod 7
// buffer: any output i32 1
// launch: k grid=2 block=64 args=x,any
// expect: clean
// Racing stores of one value, from two statements, in shared memory and between blocks.
extern "C" __global__ void k(const float* x, int* any) {
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    const float* mine = x + blockIdx.x * 128;
    if (mine[threadIdx.x] != 0.f) found = 1;
    if (mine[threadIdx.x + 64] != 0.f) found = 1;
    __syncthreads();
    if (threadIdx.x == 0) *any = found;
    if (threadIdx.x == 63) *any = found ? 1 : 0;
}
