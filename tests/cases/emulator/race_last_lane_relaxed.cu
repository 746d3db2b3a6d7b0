// The last lane to arrive reads what the others have written, and nothing orders the writes before their arrivals.
// buffer: y output i32 32
// launch: k grid=1 block=32 args=y
// expect: shared-race line 13 other 9
extern "C" __global__ void k(int* y) {
    __shared__ int s[32], arrived;
    int t = threadIdx.x, before;
    if (t == 0) arrived = 0;
    __syncthreads(), s[t] = t;
    asm volatile("atom.relaxed.cta.shared.add.u32 %0, [%1], 1;" : "=r"(before) : "r"((unsigned)__cvta_generic_to_shared(&arrived)) : "memory");
    int sum = 0;
    if (before == 31)
        for (int i = 0; i < 32; ++i) sum += s[i];
    y[t] = sum;
}
