// buffer: y inout i32 8
// buffer: z output i32 128
// launch: k grid=2 block=64 args=y,z
// expect: clean
#include <cuda/atomic>
extern "C" __global__ void k(int* y, int* z) {
    int t = blockIdx.x * 64 + threadIdx.x;
    atomicAdd(&y[0], t);
    atomicMax(&y[1], t);
    atomicInc((unsigned*)&y[2], 9);
    atomicOr(&y[3], 1 << (t % 31));
    int old = atomicExch(&y[4], t);
    if (old < 0) __trap();
    cuda::atomic_ref<int, cuda::thread_scope_device> ref(y[5]);
    ref.fetch_add(1, cuda::memory_order_acq_rel);
    while (true) {
        int seen = ref.load(cuda::memory_order_acquire);
        if (ref.compare_exchange_strong(seen, seen + 2)) break;
    }
    atomicAdd((float*)&y[6], 1.0f);
    z[t] = 1;
}
