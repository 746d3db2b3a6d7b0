// buffer: p scratch i32 4
// buffer: n inout i32 1
// buffer: y output i32 1
// launch: k grid=4 block=32 args=p,n,y
// expect: global-race line 16 other 11
// A fence or an atomic of block scope orders nothing for another block.
extern "C" __global__ void k(int* p, int* n, int* y) {
    __shared__ int last;
    if (threadIdx.x == 0) {
        // Only the writer's fence is too narrow; the barrier is the reader's.
        p[blockIdx.x] = blockIdx.x;
        __threadfence_block();
        last = atomicAdd(n, 1) == 3;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) y[0] = p[0] + p[1] + p[2] + p[3];
}
