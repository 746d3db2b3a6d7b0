// buffer: x input f32 1024
// buffer: part scratch f32 4
// buffer: ready inout i32 4
// buffer: y output f32 1
// launch: sum grid=4 block=32 args=x,part,ready,y
// expect: inter-block-wait line 13 other 10
extern "C" __global__ void sum(const float* x, volatile float* part, volatile int* ready, float* y) {
    if (threadIdx.x == 0) {
        part[blockIdx.x] = x[blockIdx.x]; __threadfence();
        ready[blockIdx.x] = 1;
        if (blockIdx.x == 0 || blockIdx.x == 3) {
            float v = 0.f;
            for (int b = 0; b < 4; ++b) { while (ready[b] == 0) { } v += part[b]; }
            if (blockIdx.x == 0) y[0] = v;
        }
    }
}
