// buffer: x input f32 4
// buffer: data scratch f32 4
// buffer: flag inout i32 1
// buffer: y output f32 1
// launch: k grid=2 block=32 cooperative args=x,data,flag,y
// expect: global-race line 10 other 15
// The writer sets the flag without a fence: the reader may see the flag before the data.
extern "C" __global__ void k(const float* x, float* data, volatile int* flag, float* y) {
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        data[2] = x[2] + 1.f;
        *flag = 1;
    } else if (blockIdx.x == 0 && threadIdx.x == 0) {
        while (*flag == 0) {}
        __threadfence();
        y[0] = data[2];
    }
}
