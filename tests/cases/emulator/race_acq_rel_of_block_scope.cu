// buffer: p scratch i32 4
// buffer: n inout i32 1
// buffer: y output i32 1
// launch: k grid=4 block=32 args=p,n,y
// expect: global-race line 13 other 12
// expect: global-race line 12 other 12
// also: global-race
extern "C" __global__ void k(int* p, int* n, int* y) {
    if (threadIdx.x) return;
    int before;
    // Neither the counter's updates nor the data are ordered between blocks.
    p[blockIdx.x] = blockIdx.x; asm volatile("atom.acq_rel.cta.global.add.s32 %0, [%1], 1;" : "=r"(before) : "l"(n) : "memory");
    if (before == 3) y[0] = p[0] + p[1] + p[2] + p[3];
}
