// expect: pass
#include <math.h>
extern "C" __global__ void k(float* x) { x[0] = std::exp(x[1]) + sqrtf(x[2]) + (float)M_PI + std::fmax(x[3], 0.f) + std::abs(x[4]) + std::isnan(x[5]) + HUGE_VALF; }
