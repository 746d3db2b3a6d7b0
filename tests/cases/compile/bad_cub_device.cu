// expect: host-include 3
// message: <cub/device/device_reduce.cuh> launches kernels from the host
#include <cub/device/device_reduce.cuh>
extern "C" __global__ void k(float* x) { x[0] = 1; }
