// buffer: p scratch i32 2
// buffer: n inout i32 1
// buffer: y output i32 1
// launch: k grid=2 block=32 cooperative args=p,n,y
// expect: global-race line 16 other 11
// expect: global-race line 15 other 12
// The release is wide enough, the acquire is not.
extern "C" __global__ void k(int* p, int* n, int* y) {
    if (threadIdx.x) return;
    if (blockIdx.x == 1) {
        p[1] = 7;
        asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(n) : "memory");
    } else {
        int set;
        do asm volatile("ld.acquire.cta.global.s32 %0, [%1];" : "=r"(set) : "l"(n) : "memory"); while (!set);
        y[0] = p[1];
    }
}
