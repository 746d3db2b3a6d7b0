// target: compute_90a
// buffer: y output i32 128
// launch: k grid=1 block=128 args=y
// expect: illegal-instruction line 6
extern "C" __global__ void k(int* y) {
    if (threadIdx.x < 32) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    y[threadIdx.x] = 1;
}
