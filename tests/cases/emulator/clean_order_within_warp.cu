// Lanes of one warp that order what they do by atomics: the last to arrive reads what all have written, and a flag with
// release and acquire passes a message from lane to lane.
// buffer: y inout i32 128
// launch: k grid=1 block=64 args=y
// expect: clean
__device__ int count = 0;
extern "C" __global__ void k(int* y) {
    __shared__ int s[64], arrived[2], flag[2], message[2];
    int t = threadIdx.x, warp = t / 32;
    if (t % 32 == 0) arrived[warp] = flag[warp] = 0;
    __syncthreads();
    s[t] = t;
    int before;
    asm volatile("atom.acq_rel.cta.shared.add.u32 %0, [%1], 1;" : "=r"(before) : "r"((unsigned)__cvta_generic_to_shared(&arrived[warp])) : "memory");
    if (before == 31)
        for (int i = 0; i < 32; ++i)
            if (s[warp * 32 + i] != warp * 32 + i) __trap();
    y[t] = t;
    __threadfence();
    if (atomicAdd(&count, 1) == 63) {
        __threadfence();
        for (int i = 0; i < 64; ++i)
            if (y[i] != i) __trap();
    }
    unsigned at = (unsigned)__cvta_generic_to_shared(&flag[warp]);
    if (t % 32 == 5) {
        message[warp] = 55;
        asm volatile("st.release.cta.shared.u32 [%0], 1;" ::"r"(at) : "memory");
    } else if (t % 32 == 9) {
        for (int seen = 0; !seen;) asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(seen) : "r"(at) : "memory");
        if (message[warp] != 55) __trap();
    }
}
