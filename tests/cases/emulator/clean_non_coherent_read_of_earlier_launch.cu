// buffer: e scratch f32 64
// buffer: y output f32 64
// launch: first grid=1 block=64 args=e
// launch: second grid=1 block=64 args=e,y
// expect: clean
extern "C" __global__ void first(float* e) { e[threadIdx.x] = threadIdx.x; }
extern "C" __global__ void second(const float* __restrict__ e, float* __restrict__ y) {
    y[threadIdx.x] = e[63 - threadIdx.x] + __ldg(e + threadIdx.x);
}
