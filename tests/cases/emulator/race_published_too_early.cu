// buffer: x input f32 640
// buffer: part scratch f32 640
// buffer: count inout i32 1
// buffer: y output f32 1
// launch: k grid=5 block=128 args=x,part,count,y
// expect: global-race line 10 other 20
// One thread's fence publishes what is ordered before it: without a barrier, its own warp's writes alone.
extern "C" __global__ void k(const float* x, float* part, unsigned* count, float* y) {
    __shared__ bool last;
    part[blockIdx.x * 128 + threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x] * 2.f;
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(count, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        float s = 0.f;
        for (int i = 0; i < 640; ++i)
            s += part[i];
        y[0] = s;
    }
}
