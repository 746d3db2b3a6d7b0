// cuda_fp16.h, cuda_bf16.h and cuda_fp8.h: arithmetic, comparisons, conversions and pairs, against sums and products in
// double (exact there) that integer code rounds to 16 bits.
// target: compute_90
// buffer: y inout i32 64
// launch: arithmetic grid=4 block=128 args=y
// launch: conversions grid=4 block=128 args=y
// launch: eight grid=1 block=256 args=y
// expect: clean
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#define CHECK(x) if (!(x)) __trap()
// A finite double to `mantissa` bits below an implicit one with exponents from `least` up; ties to even.
__device__ unsigned round_to(double v, int mantissa, int least, int bias) {
    unsigned long long bits = __double_as_longlong(v);
    unsigned sign = unsigned(bits >> 63) << 15;
    if ((bits & ~(1ull << 63)) == 0) return sign;
    int e = int(bits >> 52 & 2047) - 1023, drop = 52 - mantissa + (e < least ? least - e : 0);
    unsigned long long whole = bits << 12 >> 12 | 1ull << 52;
    if (drop > 60) return sign;
    unsigned long long kept = whole >> drop, rest = whole & ((1ull << drop) - 1), half = 1ull << (drop - 1);
    if (rest > half || (rest == half && (kept & 1))) kept += 1;
    if (e < least) e = least;
    if (kept >> mantissa == 0) return sign | unsigned(kept);  // subnormal
    unsigned result = (unsigned(e + bias - 1) << mantissa) + unsigned(kept);
    unsigned infinity = (2u * bias + 1) << mantissa;
    return sign | (result > infinity ? infinity : result);
}
__device__ double value_of(unsigned bits, int mantissa, int bias) {
    int e = bits >> mantissa & (2 * bias + 1);
    double f = double(bits & ((1 << mantissa) - 1)) / double(1 << mantissa), v = ldexp(e ? 1 + f : f, (e ? e : 1) - bias);
    return bits >> 15 ? -v : v;
}
struct F16 {
    using T = __half;
    using T2 = __half2;
    static constexpr int mantissa = 10, least = -14, bias = 15;
    static __device__ T make(unsigned b) { return __ushort_as_half(b); }
    static __device__ unsigned bits(T x) { return __half_as_ushort(x); }
};
struct B16 {
    using T = __nv_bfloat16;
    using T2 = __nv_bfloat162;
    static constexpr int mantissa = 7, least = -126, bias = 127;
    static __device__ T make(unsigned b) { return __ushort_as_bfloat16(b); }
    static __device__ unsigned bits(T x) { return __bfloat16_as_ushort(x); }
};
template <class F> __device__ double value(typename F::T x) { return value_of(F::bits(x), F::mantissa, F::bias); }
template <class F> __device__ unsigned rounded(double v) { return round_to(v, F::mantissa, F::least, F::bias); }
// A number of moderate size, so that a product and a sum are exact in double.
template <class F> __device__ typename F::T pick(unsigned& seed) {
    seed = seed * 1664525u + 1013904223u;
    unsigned e = F::bias - 6 + (seed >> 8) % 13;
    return F::make((seed >> 30 & 1) << 15 | e << F::mantissa | (seed >> 12 & ((1 << F::mantissa) - 1)));
}
template <class F> __device__ void all(unsigned seed) {
    using T = typename F::T;
    using T2 = typename F::T2;
    for (int round = 0; round < 16; ++round) {
        T a = pick<F>(seed), b = pick<F>(seed), c = pick<F>(seed);
        double x = value<F>(a), y = value<F>(b), z = value<F>(c);
        CHECK(F::bits(__hadd(a, b)) == rounded<F>(x + y) && F::bits(__hsub(a, b)) == rounded<F>(x - y));
        CHECK(F::bits(__hmul(a, b)) == rounded<F>(x * y) && F::bits(__hfma(a, b, c)) == rounded<F>(x * y + z));
        CHECK(F::bits(a + b) == rounded<F>(x + y) && F::bits(a * b) == rounded<F>(x * y) && F::bits(-a) == rounded<F>(-x));
        CHECK(F::bits(__hneg(a)) == rounded<F>(-x) && F::bits(__habs(a)) == rounded<F>(fabs(x)));
        CHECK(F::bits(__hmin(a, b)) == rounded<F>(fmin(x, y)) && F::bits(__hmax_nan(a, b)) == rounded<F>(fmax(x, y)));
        CHECK(F::bits(__hfma_relu(a, b, c)) == (x * y + z > 0 ? rounded<F>(x * y + z) : 0));
        CHECK(F::bits(__hadd_sat(a, b)) == rounded<F>(fmin(fmax(x + y, 0.0), 1.0)));
        CHECK(__hlt(a, b) == (x < y) && __hle(a, b) == (x <= y) && __hgt(a, b) == (x > y) && __hge(a, b) == (x >= y) && __heq(a, a) && __hne(a, b) == (x != y));
        CHECK(__hltu(a, b) == (x < y) && !__hisnan(a) && !__hisinf(a) && (a < b) == (x < y));
        CHECK(F::bits(hfloor(a)) == rounded<F>(floor(x)) && F::bits(hceil(a)) == rounded<F>(ceil(x)) && F::bits(htrunc(a)) == rounded<F>(trunc(x)) && F::bits(hrint(a)) == rounded<F>(rint(x)));
        T2 p(a, b), q(c, a), r = __hadd2(p, q), s = __hfma2(p, q, p), m = __hmul2(p, __hsub2(q, p));
        CHECK(F::bits(r.x) == rounded<F>(x + z) && F::bits(r.y) == rounded<F>(y + x));
        CHECK(F::bits(s.x) == rounded<F>(x * z + x) && F::bits(s.y) == rounded<F>(y * x + y));
        CHECK(F::bits(m.x) == F::bits(__hmul(a, __hsub(c, a))) && F::bits(__low2float(p) == float(x) ? a : b) == F::bits(a));
        CHECK(__hbgt2(p, q) == (x > z && y > x) && __hbne2(p, p) == false);
        T2 flags = __hgt2(p, q);
        CHECK(value<F>(flags.x) == (x > z) && value<F>(flags.y) == (y > x));
        unsigned mask = __hlt2_mask(p, q);
        CHECK(mask == ((x < z ? 0xffffu : 0) | (y < x ? 0xffff0000u : 0)));
        T root = hsqrt(__habs(a)), inverse = hrcp(b), quotient = __hdiv(a, b);
        double unit = ldexp(1.0, -F::mantissa);
        CHECK(fabs(value<F>(root) - sqrt(fabs(x))) <= unit * sqrt(fabs(x)) && fabs(value<F>(inverse) - 1 / y) <= unit * fabs(1 / y) && fabs(value<F>(quotient) - x / y) <= unit * fabs(x / y));
        T small = F::make(F::bits(a) & 0x7fff);
        CHECK(fabs(value<F>(hexp2(__hneg(small))) - exp2(-fabs(x))) <= 2 * unit * exp2(-fabs(x)) + ldexp(1.0, F::least - F::mantissa));
        CHECK(fabs(value<F>(hlog2(small)) - log2(fabs(x))) <= 2 * unit * fmax(1.0, fabs(log2(fabs(x)))));
        CHECK(fabs(value<F>(htanh(a)) - tanh(x)) <= 4 * unit && fabs(value<F>(hsin(a)) - sin(x)) <= 4 * unit && fabs(value<F>(hcos(a)) - cos(x)) <= 4 * unit);
        T across = __shfl_xor_sync(0xffffffff, a, 1);
        T back = __shfl_xor_sync(0xffffffff, across, 1);
        CHECK(F::bits(back) == F::bits(a));
    }
}
extern "C" __global__ void arithmetic(int* y) {
    unsigned seed = blockIdx.x * 128 + threadIdx.x;
    all<F16>(seed);
    all<B16>(seed + 7);
    __half2* sum = reinterpret_cast<__half2*>(y);
    atomicAdd(sum, __floats2half2_rn(1.0f, 0.0f));
    __nv_bfloat162* other = reinterpret_cast<__nv_bfloat162*>(y + 1);
    if (seed < 64) atomicAdd(other, __floats2bfloat162_rn(2.0f, -1.0f));
    if (seed < 64) atomicAdd(reinterpret_cast<__half*>(y + 2), __float2half(0.5f));
}
extern "C" __global__ void conversions(int* y) {
    int t = blockIdx.x * 128 + threadIdx.x;
    if (t == 0) CHECK(y[0] == 0x6000 && y[1] == int(0xc2804300u) && (y[2] & 0xffff) == 0x5000);
    // every half and every bfloat16
    for (unsigned b = t; b < 65536; b += 512) {
        __half h = __ushort_as_half(b);
        if ((b & 0x7fff) <= 0x7c00) {
            float f = __half2float(h);
            if ((b & 0x7fff) < 0x7c00) CHECK(f == float(value_of(b, 10, 15)));
            CHECK(__half_as_ushort(__float2half_rn(f)) == b && __half_as_ushort(__float2half_rz(f)) == b);
        } else {
            CHECK(__hisnan(h) && __half2float(h) != __half2float(h));
        }
        __nv_bfloat16 g = __ushort_as_bfloat16(b);
        if ((b & 0x7fff) <= 0x7f80) CHECK(__float_as_uint(__bfloat162float(g)) == b << 16);
        if ((b & 0x7fff) < 0x7c00 && t < 512) {
            double v = value_of(b, 10, 15);
            CHECK(__half2int_rn(h) == int(rint(v)) && __half2int_rz(h) == int(v) && __half2int_rd(h) == int(floor(v)) && __half2int_ru(h) == int(ceil(v)));
            if (v >= 0) CHECK(__half2uint_rz(h) == unsigned(v) && __half2ull_rn(h) == (unsigned long long)rint(v));
            short s = short(fmin(fmax(rint(v), -32768.0), 32767.0));
            CHECK(__half2short_rn(h) == s && double(h) == v);
        }
    }
    for (int i = -3000 + t; i < 3000; i += 512) {
        CHECK(__half_as_ushort(__int2half_rn(i * 11)) == round_to(i * 11, 10, -14, 15) && __bfloat16_as_ushort(__int2bfloat16_rn(i * 11)) == round_to(i * 11, 7, -126, 127));
        double v = i / 7.0;
        unsigned near = round_to(v, 10, -14, 15);
        unsigned down = __half_as_ushort(__double2half(v)), low = __half_as_ushort(__float2half_rd(float(v))), high = __half_as_ushort(__float2half_ru(float(v)));
        CHECK(down == near && value_of(low, 10, 15) <= float(v) && value_of(high, 10, 15) >= float(v) && (low == near || high == near));
        unsigned bnear = round_to(double(float(v)), 7, -126, 127), blow = __bfloat16_as_ushort(__float2bfloat16_rd(float(v))), bhigh = __bfloat16_as_ushort(__float2bfloat16_ru(float(v)));
        CHECK(__bfloat16_as_ushort(__float2bfloat16(float(v))) == bnear && value_of(blow, 7, 127) <= float(v) && value_of(bhigh, 7, 127) >= float(v));
        __half2 pair = __floats2half2_rn(float(v), float(-v));
        CHECK(__half_as_ushort(__low2half(pair)) == round_to(double(float(v)), 10, -14, 15) && __half_as_ushort(__high2half(pair)) == round_to(double(float(-v)), 10, -14, 15));
        CHECK(__half_as_ushort(__lowhigh2highlow(pair).x) == __half_as_ushort(pair.y) && __half_as_ushort(__halves2half2(pair.y, pair.x).y) == __half_as_ushort(pair.x));
    }
}
// All 8-bit values: what they stand for, and that each comes back.
extern "C" __global__ void eight(int*) {
    unsigned b = threadIdx.x;
    auto decoded = [&](int mantissa, int bias) {
        unsigned e = b >> mantissa & (mantissa == 3 ? 15 : 31), f = b & ((1 << mantissa) - 1);
        float v = ldexpf(e ? 1 + f / float(1 << mantissa) : f / float(1 << mantissa), int(e ? e : 1) - bias);
        return b & 128 ? -v : v;
    };
    __nv_fp8_e4m3 x;
    x.__x = b;
    __nv_fp8_e5m2 z;
    z.__x = b;
    if ((b & 127) != 127) {
        CHECK(float(x) == decoded(3, 7));
        CHECK(__nv_fp8_e4m3(float(x)).__x == b && __nv_fp8_e4m3(__half(x)).__x == b && __nv_cvt_float_to_fp8(float(x), __NV_SATFINITE, __NV_E4M3) == b);
    }
    if ((b & 127) < 0x7c) {
        CHECK(float(z) == decoded(2, 15));
        CHECK(__nv_fp8_e5m2(float(z)).__x == b && __nv_fp8_e5m2(double(float(z))).__x == b);
    }
    // between two neighbours: to nearest, ties to even; beyond the largest: the largest
    unsigned low = b & 127;
    if (low < 125) {
        float here = decoded(3, 7), next = ldexpf(1, 0);
        __nv_fp8_e4m3 above;
        above.__x = b + 1;
        next = float(above);
        CHECK(__nv_fp8_e4m3((here * 3 + next) / 4).__x == b && __nv_fp8_e4m3((here + next * 3) / 4).__x == b + 1);
        CHECK(__nv_fp8_e4m3((here + next) / 2).__x == (b & 1 ? b + 1 : b));
    }
    CHECK(__nv_fp8_e4m3(1e6f).__x == 0x7e && __nv_fp8_e4m3(-1e6f).__x == 0xfe && __nv_fp8_e5m2(1e9f).__x == 0x7b);
    __nv_fp8x2_e4m3 pair(make_float2(1.5f, -2.0f));
    float2 both = float2(pair);
    CHECK(both.x == 1.5f && both.y == -2.0f && pair.__x == 0xc03c);
    __nv_fp8x4_e5m2 four(make_float4(1.0f, 2.0f, -0.5f, 0.25f));
    float4 quad = float4(four);
    CHECK(quad.x == 1.0f && quad.y == 2.0f && quad.z == -0.5f && quad.w == 0.25f);
}
