// buffer: x input f32 256
// buffer: y output f32 64
// launch: pipe grid=2 block=64 args=x,y
// expect: clean
// A producer warp and a consumer warp hand a buffer over through named barriers.
__device__ __forceinline__ void sync(int id) { asm volatile("bar.sync %0, 64;" :: "r"(id) : "memory"); }
__device__ __forceinline__ void arrive(int id) { asm volatile("bar.arrive %0, 64;" :: "r"(id) : "memory"); }
extern "C" __global__ void pipe(const float* x, float* y) {
    __shared__ float buf[32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float acc = 0.f;
    for (int k = 0; k < 4; ++k) {
        if (warp == 0) {
            if (k > 0) sync(2);
            buf[lane] = x[blockIdx.x * 128 + k * 32 + lane];
            arrive(1);
        } else {
            sync(1);
            acc += buf[lane ^ 1];
            if (k < 3) arrive(2);
        }
    }
    if (warp == 1) y[blockIdx.x * 32 + lane] = acc;
}
