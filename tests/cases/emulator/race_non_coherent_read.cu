// buffer: e scratch f32 64
// buffer: y output f32 64
// launch: k grid=1 block=64 args=e,y
// expect: non-coherent-read line 9 other 7
// What the same launch writes may not be read by __ldg, barrier or not.
extern "C" __global__ void k(float* e, float* y) {
    e[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = __ldg(e + 63 - threadIdx.x);
}
