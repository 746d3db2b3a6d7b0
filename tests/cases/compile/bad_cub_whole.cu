// expect: host-include 4
// message: <cub/cub.cuh> launches kernels from the host
#include <cuda_fp16.h>
#include <cub/cub.cuh>
extern "C" __global__ void k(float* x) { x[0] = 1; }
