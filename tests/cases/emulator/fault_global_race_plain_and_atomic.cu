// buffer: y inout i32 1
// buffer: z output i32 256
// launch: k grid=2 block=128 args=y,z
// expect: global-race line 7 other 6
extern "C" __global__ void k(int* y, int* z) {
    atomicAdd(y, 1);
    z[blockIdx.x * 128 + threadIdx.x] = *y;
}
