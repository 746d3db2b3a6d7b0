// buffer: y output f32 32
// launch: k grid=1 block=32 args=y
// expect: divergent-barrier line 7 other 9
extern "C" __global__ void k(float* y) {
    __shared__ float s[32]; s[threadIdx.x] = 1.f;
    if (threadIdx.x < 16) {
        __syncthreads(); y[threadIdx.x] = s[threadIdx.x];
    } else {
        __syncthreads(); y[threadIdx.x] = 2 * s[threadIdx.x];
    }
}
