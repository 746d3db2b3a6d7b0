// buffer: x input f32 40000
// buffer: y output f32 128
// launch: k grid=1 block=128 args=x,y
// expect: clean
// A long loop of strong reads is no waiting.
extern "C" __global__ void k(const volatile float* x, float* y) {
    float s = 0.f;
    for (int i = 0; i < 40000; ++i) s += x[(i + threadIdx.x * 32) % 40000];
    y[threadIdx.x] = s;
}
