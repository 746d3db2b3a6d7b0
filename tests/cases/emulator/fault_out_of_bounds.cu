// buffer: a input f32 1000
// buffer: y output f32 1000
// launch: k grid=4 block=256 args=a,y
// expect: out-of-bounds line 7
extern "C" __global__ void k(const float* a, float* y) {
    int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = a[i];
}
