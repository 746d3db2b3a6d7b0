// buffer: y output f32 32
// launch: k grid=1 block=32 args=y
// expect: clean
struct Shape { __device__ virtual float area(float x) const { return x; } };
struct Square : Shape { __device__ float area(float x) const override { return x * x; } };
extern "C" __global__ void k(float* y) {
    Shape plain; Square square;
    const Shape* s = threadIdx.x % 2 ? &plain : static_cast<const Shape*>(&square);
    y[threadIdx.x] = s->area(threadIdx.x);
}
