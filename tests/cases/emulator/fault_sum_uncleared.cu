// buffer: x input f32 1000
// buffer: y output f32 1
// launch: sum grid=4 block=256 args=x,y,i:1000
// expect: uninitialised-output-read
extern "C" __global__ void sum(const float* x, float* y, int N) {
    float v = 0.f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) v += x[i];
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    if (threadIdx.x % 32 == 0) atomicAdd(y, v);
}
