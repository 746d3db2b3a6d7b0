// buffer: x input f32 4
// buffer: data scratch f32 4
// buffer: flag inout i32 1
// buffer: y output f32 1
// launch: k grid=2 block=32 cooperative args=x,data,flag,y
// expect: global-race line 12 other 16
// Relaxed atomics order nothing but themselves.
#include <cuda/atomic>
extern "C" __global__ void k(const float* x, float* data, int* flag, float* y) {
    cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        data[2] = x[2] + 1.f;
        f.store(1, cuda::memory_order_relaxed);
    } else if (blockIdx.x == 0 && threadIdx.x == 0) {
        while (f.load(cuda::memory_order_relaxed) == 0) {}
        y[0] = data[2];
    }
}
