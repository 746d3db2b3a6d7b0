// buffer: y output i32 64
// target: compute_90
// launch: k grid=1 block=64 args=y
// either: shared-race line 11 other 19
// either: mbarrier-misuse line 19
typedef unsigned long long u64;
extern "C" __global__ void k(int* y) {
    __shared__ __align__(8) u64 bar;
    const unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(at) : "memory");
        // The initialising thread arrives, too: its own arrival does not stand for the order that is missing.
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
    }
    // __syncthreads() is missing
    if (threadIdx.x == 32)
        for (volatile int i = 0; i < 100; ++i) {}
    if (threadIdx.x != 0)
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
    y[threadIdx.x] = 1;
}
