// expect: pass
// No include: the fixed-width types and the limits are there by themselves, as constants too.
constexpr float infinity = INFINITY;
constexpr float none = NAN;
static_assert(sizeof(int8_t) == 1 && sizeof(uint16_t) == 2 && sizeof(int32_t) == 4 && sizeof(uint64_t) == 8, "");
static_assert(INT_MAX == 2147483647 && UINT_MAX == 4294967295u && INT_MIN < 0 && FLT_MAX > 3e38f, "");
static_assert(INT64_MAX == 9223372036854775807LL && UINT8_MAX == 255 && SIZE_MAX == UINT64_MAX && CHAR_BIT == 8, "");
extern "C" __global__ void k(float* x, uint64_t* y, uint n) {
    float m = -INFINITY;
    for (uint32_t i = 0; i < n; ++i) m = fmaxf(m, x[i]);
    x[0] = m == -FLT_MAX ? NAN : m;
    x[1] = infinity + none + FLT_MIN + FLT_EPSILON;
    y[0] = (uintptr_t)x;
}
