// buffer: x input i32 1024 mod 50
// buffer: y output i32 1
// launch: k grid=1 block=1024 args=x,y
// expect: clean
// All but the last warp to arrive poll; each must give up its turn after a look in vain.
extern "C" __global__ void k(const int* x, int* y) {
    __shared__ int s[1024];
    __shared__ alignas(8) unsigned long long bar;
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
    const int t = threadIdx.x;
    unsigned phase = 0;
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(1024));
    __syncthreads();
    s[t] = x[t];
    for (int o = 512; o >= 0; o = o ? o / 2 : -1) {
        asm volatile("{.reg .b64 s; mbarrier.arrive.shared.b64 s, [%0];}" ::"r"(at) : "memory");
        unsigned done;
        do asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                        : "=r"(done) : "r"(at), "r"(phase) : "memory");
        while (!done);
        phase ^= 1;
        if (t < o) s[t] += s[t + o];
    }
    if (t == 0) y[0] = s[0];
}
