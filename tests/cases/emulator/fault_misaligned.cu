// buffer: a input f32 64
// buffer: y output f32 64
// launch: k grid=1 block=8 args=a,y
// expect: misaligned-access line 6
extern "C" __global__ void k(const float* a, float4* y) {
    y[threadIdx.x] = *reinterpret_cast<const float4*>(a + 1 + 4 * threadIdx.x);
}
