// expect: compile-error 3
// The toolkit's headers that are for host programs do not compile; the line that includes one is to blame.
#include <cublas_v2.h>
extern "C" __global__ void k(float* x) { x[0] = 1; }
