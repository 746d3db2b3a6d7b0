// expect: pass
// target: sm_90a
#include <cuda.h>
static_assert(sizeof(CUtensorMap) == 128 && alignof(CUtensorMap) == 64, "");
extern "C" __global__ void k(const __grid_constant__ CUtensorMap map, unsigned long long* out) { out[0] = (unsigned long long)&map; }
