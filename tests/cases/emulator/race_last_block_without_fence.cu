// buffer: x input f32 5000
// buffer: part scratch f32 20
// buffer: count inout i32 1
// buffer: y output f32 1
// launch: sum grid=20 block=32 args=x,part,count,y,i:5000
// expect: global-race line 15 other 9
extern "C" __global__ void sum(const float* x, float* part, unsigned* count, float* y, int n) {
    if (threadIdx.x == 0) {
        part[blockIdx.x] = x[blockIdx.x];
        unsigned ticket = atomicInc(count, gridDim.x - 1);
        if (ticket == gridDim.x - 1) {
            float v = 0.f;
            for (int b = 0; b < gridDim.x; ++b)
                // reads what the other blocks wrote, which nobody published
                v += part[b];
            y[0] = v;
        }
    }
}
