// expect: ptxas-error 6
// target: sm_80
// message: wgmma
//
extern "C" __global__ void k(int* x) {
    asm volatile("wgmma.fence.sync.aligned;");
    x[0] = 1;
}
