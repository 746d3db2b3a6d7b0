// buffer: x input i32 1000 mod 7
// buffer: y inout i32 7
// launch: hist grid=4 block=256 args=x,y,i:1000
// expect: global-race line 7
extern "C" __global__ void hist(const int* x, int* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[x[i]] += 1;
}
