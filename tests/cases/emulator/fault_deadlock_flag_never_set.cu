// buffer: flag inout i32 1
// buffer: y output i32 1
// launch: k grid=2 block=64 args=flag,y
// expect: deadlock line 5
extern "C" __global__ void k(volatile int* flag, int* y) { while (*flag == 0) { } y[0] = 1; }
