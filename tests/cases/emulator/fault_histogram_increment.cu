// buffer: x input i32 1000 mod 7
// buffer: y output i32 7
// launch: zero grid=1 block=128 args=y,i:7
// launch: hist grid=4 block=256 args=x,y,i:1000
// expect: global-race
extern "C" __global__ void zero(int* y, int B) {
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < B) y[i] = 0;
}
extern "C" __global__ void hist(const int* x, int* y, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) y[x[i]] += 1;
}
