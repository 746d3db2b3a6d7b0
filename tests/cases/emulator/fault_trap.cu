// buffer: y output i32 1
// launch: k grid=1 block=32 args=y
// expect: trap line 4
extern "C" __global__ void k(int* y) { if (threadIdx.x == 3) __trap(); y[0] = 1; }
