// buffer: a input f32 4096
// buffer: y output f32 256
// launch: k grid=1 block=256 args=a,y
// expect: shared-race line 9 other 12
extern "C" __global__ void k(const float* a, float* y) {
    __shared__ float s[256];
    float acc = 0.f;
    for (int k0 = 0; k0 < 16; ++k0) {
        s[threadIdx.x] = a[k0 * 256 + threadIdx.x];
        __syncthreads();
        #pragma unroll 1
        for (int k = 0; k < 256; ++k) acc += s[k];
    }
    y[threadIdx.x] = acc;
}
