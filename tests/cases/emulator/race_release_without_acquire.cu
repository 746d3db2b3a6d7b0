// buffer: p scratch i32 4
// buffer: n inout i32 1
// buffer: y output i32 1
// launch: k grid=4 block=32 args=p,n,y
// expect: global-race line 12 other 10
// atom.release has no acquire side: what its result says about other blocks orders nothing.
extern "C" __global__ void k(int* p, int* n, int* y) {
    if (threadIdx.x) return;
    int before;
    p[blockIdx.x] = blockIdx.x;
    asm volatile("atom.release.gpu.global.add.s32 %0, [%1], 1;" : "=r"(before) : "l"(n) : "memory");
    if (before == 3) y[0] = p[0] + p[1] + p[2] + p[3];
}
