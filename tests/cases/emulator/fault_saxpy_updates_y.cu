// buffer: x input f32 300
// buffer: y input f32 300
// buffer: z output f32 300
// launch: saxpy grid=2 block=256 args=x,y,z,f:2,i:300
// expect: input-write
extern "C" __global__ void saxpy(const float* x, float* y, float* z, float alpha, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        y[i] += alpha * x[i];
        z[i] = y[i];
    }
}
