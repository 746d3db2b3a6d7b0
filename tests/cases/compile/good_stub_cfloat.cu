// expect: pass
#include <cfloat>
extern "C" __global__ void k(float* x, double* y) { x[0] = FLT_MAX - FLT_MIN * FLT_EPSILON; y[0] = DBL_MAX + DBL_EPSILON + DBL_DIG; }
