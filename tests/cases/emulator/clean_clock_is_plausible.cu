// buffer: x input f32 32
// buffer: y output f32 32
// launch: k grid=1 block=32 args=x,y
// expect: clean
// A load from memory and a fence take hundreds of cycles, some arithmetic tens, and time never runs backwards.
extern "C" __global__ void k(const float* x, float* y) {
    const long long t0 = clock64();
    y[threadIdx.x] = x[threadIdx.x] * 2.f;
    __threadfence();
    const long long t1 = clock64();
    const long long t2 = clock64();
    if (t1 - t0 < 100 || t1 - t0 > 100000 || t2 - t1 < 1 || t2 - t1 > 200) __trap();
}
