// expect: pass
// define: TILE=48
// define: TEXT="a b"
// option: --use_fast_math
// option: --maxrregcount=32
// option: --fmad=false
static_assert(TILE == 48 && sizeof(TEXT) == 4, "");
extern "C" __global__ void k(float* x) { x[TILE] = expf(x[0]) * 2.f + 1.f; }
