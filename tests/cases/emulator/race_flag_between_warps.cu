// buffer: x input f32 64
// buffer: y output f32 64
// launch: k grid=1 block=64 args=x,y
// expect: shared-race line 9 other 13
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ float s[32];
    __shared__ volatile int ready;
    if (threadIdx.x == 0) ready = 0; __syncthreads();
    if (threadIdx.x < 32) { s[threadIdx.x] = x[threadIdx.x];
        __syncwarp();
        if (threadIdx.x == 0) ready = 1;
    } else {
        while (ready == 0) {} y[threadIdx.x] = s[threadIdx.x ^ 32];
    }
}
