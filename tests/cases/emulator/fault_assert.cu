// buffer: x input i32 32 mod 9
// launch: k grid=1 block=32 args=x
// expect: assert
extern "C" __device__ void __assertfail(const char*, const char*, unsigned, const char*, size_t);
extern "C" __global__ void k(const int* x) {
    if (x[threadIdx.x] >= 7) __assertfail("x < 7", "kernel.cu", 6, "k", 1);
}
