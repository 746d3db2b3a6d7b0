// expect: pass
#include <stdint.h>
extern "C" __global__ void k(std::int32_t* x, uint8_t* y, intptr_t p) { x[0] = (int32_t)UINT16_MAX + y[0] + (int)p + (int)INT64_C(3); }
