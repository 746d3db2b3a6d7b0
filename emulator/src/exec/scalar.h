// Scalar functions that handlers share: elementary functions in double, half-precision conversions.
#pragma once

#include <limits>

#include "emulator/src/exec/lanes.h"

namespace emulator::exec {
namespace EMULATOR_ISA {

inline double exp2_of(double x) {
    const double t = x < -1000.0 ? -1000.0 : x > 1000.0 ? 1000.0 : x;
    const double big = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
    const double shifted = t + big;
    const double n = shifted - big;
    const double f = (t - n) * 0.69314718055994530942;
    double p = 1.0 / 479001600.0;
    p = p * f + 1.0 / 39916800.0;
    p = p * f + 1.0 / 3628800.0;
    p = p * f + 1.0 / 362880.0;
    p = p * f + 1.0 / 40320.0;
    p = p * f + 1.0 / 5040.0;
    p = p * f + 1.0 / 720.0;
    p = p * f + 1.0 / 120.0;
    p = p * f + 1.0 / 24.0;
    p = p * f + 1.0 / 6.0;
    p = p * f + 0.5;
    p = p * f + 1.0;
    p = p * f + 1.0;
    const u64 scale = ((as_bits(shifted) - as_bits(big)) + 1023) << 52;
    const double r = p * as_double(scale);
    return x != x ? x : r;
}

inline double log2_of(double x) {
    const u64 bits = as_bits(x);
    // the exponent so that the mantissa lies in [sqrt(1/2), sqrt(2))
    const u64 shifted = bits - 0x3fe6a09e667f3bcdull;
    const s64 e = static_cast<s64>(shifted) >> 52;
    const double m = as_double(bits - (static_cast<u64>(e) << 52));
    const double t = (m - 1.0) / (m + 1.0), s = t * t;
    double p = 1.0 / 19.0;
    p = p * s + 1.0 / 17.0;
    p = p * s + 1.0 / 15.0;
    p = p * s + 1.0 / 13.0;
    p = p * s + 1.0 / 11.0;
    p = p * s + 1.0 / 9.0;
    p = p * s + 1.0 / 7.0;
    p = p * s + 1.0 / 5.0;
    p = p * s + 1.0 / 3.0;
    p = p * s + 1.0;
    double r = static_cast<double>(static_cast<s32>(e)) + p * t * (2.0 * 1.44269504088896340736);
    r = x == 0.0 ? -std::numeric_limits<double>::infinity() : r;
    r = x < 0.0 ? std::numeric_limits<double>::quiet_NaN() : r;
    r = x == std::numeric_limits<double>::infinity() ? x : r;
    return x != x ? x : r;
}

inline double sine_of(double x, int quarter) {  // quarter 1: cosine
    const double big = 6755399441055744.0;
    const double shifted = x * 0.63661977236758134308 + big;
    const double n = shifted - big;
    const double r = (x - n * 1.57079632679489655800) - n * 6.12323399573676603587e-17;
    const u64 k = (as_bits(shifted) - as_bits(big)) + static_cast<u64>(quarter);
    const double s = r * r;
    double a = -1.0 / 1307674368000.0;
    a = a * s + 1.0 / 6227020800.0;
    a = a * s - 1.0 / 39916800.0;
    a = a * s + 1.0 / 362880.0;
    a = a * s - 1.0 / 5040.0;
    a = a * s + 1.0 / 120.0;
    a = a * s - 1.0 / 6.0;
    const double sine = r * (1.0 + s * a);  // keeps the sign of zero
    double b = 1.0 / 20922789888000.0;
    b = b * s - 1.0 / 87178291200.0;
    b = b * s + 1.0 / 479001600.0;
    b = b * s - 1.0 / 3628800.0;
    b = b * s + 1.0 / 40320.0;
    b = b * s - 1.0 / 720.0;
    b = b * s + 1.0 / 24.0;
    b = b * s - 0.5;
    const double cosine = 1.0 + s * b;
    const double v = (k & 1) ? cosine : sine;
    const double signed_v = (k & 2) ? -v : v;
    return x - x != 0.0 ? std::numeric_limits<double>::quiet_NaN() : signed_v;
}

inline double tanh_of(double x) {
    const double a = x < 0 ? -x : x;
    const double e = exp2_of((a > 40.0 ? 40.0 : a) * 2.8853900817779268147);
    const double big = (e - 1.0) / (e + 1.0);
    const double small = a - a * a * a * (1.0 / 3.0);
    const double r = a < 1e-4 ? small : big;
    return x != x ? x : std::bit_cast<double>(as_bits(r) | (as_bits(x) & 0x8000000000000000ull));
}

// `y` with an error of half to all of `share` of itself, up or down as the argument's bits without its sign
// decide: what an approximation with that documented error may answer, the same each time, odd where the
// function is.
inline double coarse(double y, std::uint32_t argument, double share) {
    std::uint32_t h = argument * 0x9e3779b9u;
    h = (h ^ (h >> 15)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    h ^= h >> 16;
    const double part = 0.5 + static_cast<double>(h >> 8) * 0x1p-25;
    return y * (1.0 + ((h & 1u) != 0 ? part : -part) * share);
}
// A coarse hyperbolic tangent never exceeds 1 and reaches it where the result does.
inline double coarse_tanh(double y, std::uint32_t argument, double share) {
    const double a = y < 0 ? -y : y;
    if (!(a < 1.0 - 0x1p-25)) return y;
    const double c = coarse(y, argument, share);
    return c > 1.0 ? 1.0 : c < -1.0 ? -1.0 : c;
}

// ---- 16-bit formats: exact to float, and back with one rounding from double ----
inline float half_to_float(u32 h) {
    const u32 sign = (h & 0x8000u) << 16, e = (h >> 10) & 0x1f, m = h & 0x3ff;
    if (e == 31) return as_float(sign | 0x7f800000u | (m << 13));
    if (e == 0) {
        const float v = static_cast<float>(m) * 5.9604644775390625e-8f;  // 2^-24
        return as_float(as_bits(v) | sign);
    }
    return as_float(sign | ((e + 112) << 23) | (m << 13));
}
inline float bf16_to_float(u32 h) { return as_float((h & 0xffffu) << 16); }

// Rounds a double to a binary format with `mantissa` explicit bits and exponents from `lowest` (of the
// smallest normal) to `highest`. rounding: 0 rn even, 1 rz, 2 rm, 3 rp, 4 rna. Gives the magnitude in units:
// the biased exponent and mantissa as one integer; overflow gives the code after the largest finite one when
// rounding away, else the largest.
struct Rounded {
    u32 code = 0;
    bool overflow = false;
};
inline Rounded round_magnitude(double magnitude, bool negative, int mantissa, int lowest, int highest,
                               int rounding) {
    Rounded out;
    if (magnitude == 0) return out;
    int e = 0;
    (void)std::frexp(magnitude, &e);
    e -= 1;
    if (e < lowest) e = lowest;
    const double scaled = std::ldexp(magnitude, mantissa - e);  // exact
    double whole = std::floor(scaled);
    const double rest = scaled - whole;
    const bool up = rounding == 0   ? rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2.0) != 0)
                    : rounding == 1 ? false
                    : rounding == 2 ? negative && rest > 0
                    : rounding == 3 ? !negative && rest > 0
                                    : rest >= 0.5;
    if (up) whole += 1;
    const double implicit = std::ldexp(1.0, mantissa);
    u64 w = static_cast<u64>(whole);
    if (w >= 2 * static_cast<u64>(implicit)) {
        w >>= 1;
        e += 1;
    }
    if (e > highest) {
        out.overflow = true;
        return out;
    }
    out.code = w < static_cast<u64>(implicit) ? static_cast<u32>(w)
                                              : (static_cast<u32>(e - lowest + 1) << mantissa) +
                                                    static_cast<u32>(w - static_cast<u64>(implicit));
    return out;
}

inline u32 double_to_half(double v, int rounding = 0) {
    if (v != v) return 0x7fff;
    const bool negative = std::signbit(v);
    const u32 sign = negative ? 0x8000u : 0;
    if (std::isinf(v)) return sign | 0x7c00;
    const Rounded r = round_magnitude(std::fabs(v), negative, 10, -14, 15, rounding);
    if (r.overflow) {
        const bool to_infinity =
            rounding == 0 || rounding == 4 || (rounding == 2 && negative) || (rounding == 3 && !negative);
        return sign | (to_infinity ? 0x7c00u : 0x7bffu);
    }
    return sign | r.code;
}
inline u32 double_to_bf16(double v, int rounding = 0) {
    if (v != v) return 0x7fff;
    const bool negative = std::signbit(v);
    const u32 sign = negative ? 0x8000u : 0;
    if (std::isinf(v)) return sign | 0x7f80;
    const Rounded r = round_magnitude(std::fabs(v), negative, 7, -126, 127, rounding);
    if (r.overflow) {
        const bool to_infinity =
            rounding == 0 || rounding == 4 || (rounding == 2 && negative) || (rounding == 3 && !negative);
        return sign | (to_infinity ? 0x7f80u : 0x7f7fu);
    }
    return sign | r.code;
}
// Fast forms for round-to-nearest-even.
inline u32 float_to_half(float f) {
    const u32 x = as_bits(f), sign = (x >> 16) & 0x8000u, a = x & 0x7fffffffu;
    if (a > 0x7f800000u) return 0x7fff;
    if (a >= 0x477ff000u) return sign | 0x7c00u;  // 65520 and above
    if (a < 0x38800000u) {                        // subnormal: add a magic number that aligns the bits
        const float magic = as_float((127 - 15 + 23 - 10 + 1) << 23);
        return sign | (as_bits(as_float(a) + magic) - as_bits(magic));
    }
    return sign | ((a + 0xfffu + ((a >> 13) & 1) - 0x38000000u) >> 13);
}
inline u32 float_to_bf16(float f) {
    const u32 x = as_bits(f);
    if ((x & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return (x + 0x7fffu + ((x >> 16) & 1)) >> 16;
}

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec
