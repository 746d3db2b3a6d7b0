// buffer: y output f32 64
// launch: k grid=1 block=64 args=y
// expect: deadlock line 6
extern "C" __global__ void k(float* y) {
    if (threadIdx.x < 8)
        __syncwarp(0xffff);
    __syncthreads();
    y[threadIdx.x] = 1.f;
}
