// expect: compile-output-limit|compile-memory-limit|compile-time-limit
// time: 6000
// memory: 600
__device__ int table[1 << 28] = {1, 2, 3};
extern "C" __global__ void k(int* x) { x[0] = table[x[1]]; }
