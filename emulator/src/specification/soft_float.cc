#include "emulator/src/specification/soft_float.h"

namespace emulator::specification {

namespace {

using u64 = std::uint64_t;
using u128 = unsigned __int128;
using Kind = Number::Kind;

int top_bit(u128 v) {  // of a value that is not zero
    int n = -1;
    for (; v != 0; v >>= 1) ++n;
    return n;
}
u64 exponent_mask(const Format& f) { return ((u64{1} << (f.width - f.precision)) - 1) << (f.precision - 1); }
u64 fraction_mask(const Format& f) { return (u64{1} << (f.precision - 1)) - 1; }

// Drops the lowest `count` bits; what is lost goes to the sticky bit.
void drop(Number& n, int count) {
    if (count <= 0) return;
    const u128 lost = count >= 128 ? n.significand : n.significand & ((u128{1} << count) - 1);
    n.sticky |= lost != 0;
    n.significand = count >= 128 ? 0 : n.significand >> count;
    n.exponent += count;
}

// Should a magnitude of `kept` units, `half` and `rest` telling of what lies below, go up by one?
bool goes_up(Rounding rounding, bool negative, bool odd, bool half, bool rest) {
    switch (rounding) {
        case Rounding::nearest_even:
            return half && (rest || odd);
        case Rounding::nearest_away:
            return half;
        case Rounding::zero:
            return false;
        case Rounding::down:
            return negative && (half || rest);
        case Rounding::up:
            return !negative && (half || rest);
    }
    return false;
}

// The significand in units of 2^unit, rounded.
u128 in_units(const Number& n, int unit, Rounding rounding) {
    const int shift = unit - n.exponent;
    if (shift <= 0) return n.significand << -shift;
    u128 kept = 0;
    bool half = false, rest = n.sticky;
    if (shift > 128) {
        rest = true;
    } else {
        half = (n.significand >> (shift - 1)) & 1;
        rest |= (n.significand & ((u128{1} << (shift - 1)) - 1)) != 0;
        if (shift < 128) kept = n.significand >> shift;
    }
    return kept + (goes_up(rounding, n.negative, kept & 1, half, rest) ? 1 : 0);
}

}  // namespace

u64 sign_bit(const Format& f) { return u64{1} << (f.width - 1); }
u64 canonical_nan(const Format& f) { return sign_bit(f) - 1; }
bool is_nan(u64 bits, const Format& f) { return decode(bits, f).kind == Kind::nan; }
bool is_subnormal(u64 bits, const Format& f) {
    return (bits & exponent_mask(f)) == 0 && (bits & fraction_mask(f)) != 0;
}

Number decode(u64 bits, const Format& f) {
    Number n;
    n.negative = (bits & sign_bit(f)) != 0;
    const u64 fraction = bits & fraction_mask(f);
    const u64 exponent = (bits & exponent_mask(f)) >> (f.precision - 1);
    if ((bits & exponent_mask(f)) == exponent_mask(f)) {
        n.kind = fraction ? Kind::nan : Kind::infinite;
        return n;
    }
    if (exponent == 0 && fraction == 0) return n;
    n.kind = Kind::finite;
    n.significand = exponent == 0 ? fraction : fraction | (u64{1} << (f.precision - 1));
    n.exponent = (exponent == 0 ? f.lowest : f.lowest + static_cast<int>(exponent) - 1) - (f.precision - 1);
    return n;
}
Number from_integer(u64 magnitude, bool negative) {
    Number n;
    if (magnitude == 0) return n;
    n.kind = Kind::finite;
    n.negative = negative;
    n.significand = magnitude;
    return n;
}

u64 encode(const Number& n, const Format& f, Rounding rounding) {
    const u64 sign = n.negative ? sign_bit(f) : 0;
    if (n.kind == Kind::nan) return canonical_nan(f);
    if (n.kind == Kind::infinite) return sign | exponent_mask(f);
    if (n.kind == Kind::zero) return sign;
    int leading = n.exponent + top_bit(n.significand);
    if (leading < f.lowest) leading = f.lowest;
    const int unit = leading - (f.precision - 1);
    u128 units = in_units(n, unit, rounding);
    if (units >> f.precision) {
        units >>= 1;
        leading += 1;
    }
    if (leading > f.highest) {
        const bool away = rounding == Rounding::nearest_even || rounding == Rounding::nearest_away ||
                          (rounding == Rounding::down && n.negative) ||
                          (rounding == Rounding::up && !n.negative);
        return sign | (away ? exponent_mask(f) : exponent_mask(f) - 1);
    }
    const u64 magnitude = static_cast<u64>(units);
    if (magnitude <= fraction_mask(f)) return sign | magnitude;  // subnormal, or zero
    return sign | static_cast<u64>(leading - f.lowest + 1) << (f.precision - 1) |
           (magnitude & fraction_mask(f));
}

Number negate(Number a) {
    a.negative = !a.negative;
    return a;
}

Number add(const Number& x, const Number& y, Rounding rounding) {
    if (x.kind == Kind::nan || y.kind == Kind::nan) return {Kind::nan, false, 0, 0, false};
    if (x.kind == Kind::infinite || y.kind == Kind::infinite) {
        if (x.kind == y.kind && x.negative != y.negative) return {Kind::nan, false, 0, 0, false};
        return x.kind == Kind::infinite ? x : y;
    }
    if (x.kind == Kind::zero && y.kind == Kind::zero) {
        Number zero;
        zero.negative = x.negative == y.negative ? x.negative : rounding == Rounding::down;
        return zero;
    }
    if (x.kind == Kind::zero) return y;
    if (y.kind == Kind::zero) return x;
    // The one with the higher leading bit is brought to bit 125, the other to the same unit.
    Number a = x, b = y;
    if (a.exponent + top_bit(a.significand) < b.exponent + top_bit(b.significand)) {
        a = y;
        b = x;
    }
    const int up = 125 - top_bit(a.significand);
    a.significand <<= up;
    a.exponent -= up;
    if (b.exponent >= a.exponent) {
        b.significand <<= b.exponent - a.exponent;
        b.exponent = a.exponent;
    } else {
        drop(b, a.exponent - b.exponent);
    }
    Number sum = a;
    sum.sticky = b.sticky;
    if (a.negative == b.negative) {
        sum.significand = a.significand + b.significand;
        return sum;
    }
    if (a.significand < b.significand) {  // leading bits alike; nothing was dropped then
        sum.significand = b.significand - a.significand;
        sum.negative = b.negative;
        return sum;
    }
    // A little less than the difference, when the smaller one lost something: one unit down and sticky.
    sum.significand = a.significand - b.significand - (b.sticky ? 1 : 0);
    if (sum.significand == 0 && !sum.sticky) {
        Number zero;
        zero.negative = rounding == Rounding::down;
        return zero;
    }
    return sum;
}

Number multiply(const Number& a, const Number& b) {
    if (a.kind == Kind::nan || b.kind == Kind::nan) return {Kind::nan, false, 0, 0, false};
    const bool negative = a.negative != b.negative;
    const bool zero = a.kind == Kind::zero || b.kind == Kind::zero;
    if (a.kind == Kind::infinite || b.kind == Kind::infinite)
        return {zero ? Kind::nan : Kind::infinite, !zero && negative, 0, 0, false};
    if (zero) return {Kind::zero, negative, 0, 0, false};
    return {Kind::finite, negative, a.significand * b.significand, a.exponent + b.exponent, false};
}

Number divide(const Number& a, const Number& b) {
    if (a.kind == Kind::nan || b.kind == Kind::nan) return {Kind::nan, false, 0, 0, false};
    const bool negative = a.negative != b.negative;
    if (a.kind == Kind::infinite)
        return {b.kind == Kind::infinite ? Kind::nan : Kind::infinite, b.kind != Kind::infinite && negative,
                0, 0, false};
    if (b.kind == Kind::infinite) return {Kind::zero, negative, 0, 0, false};
    if (b.kind == Kind::zero)
        return {a.kind == Kind::zero ? Kind::nan : Kind::infinite, a.kind != Kind::zero && negative, 0, 0,
                false};
    if (a.kind == Kind::zero) return {Kind::zero, negative, 0, 0, false};
    const int up = 126 - top_bit(a.significand);
    const u128 dividend = a.significand << up;
    Number q{Kind::finite, negative, dividend / b.significand, a.exponent - up - b.exponent, false};
    q.sticky = dividend % b.significand != 0;
    return q;
}

Number square_root(const Number& a) {
    if (a.kind == Kind::nan) return {Kind::nan, false, 0, 0, false};
    if (a.kind == Kind::zero) return a;
    if (a.negative) return {Kind::nan, false, 0, 0, false};
    if (a.kind == Kind::infinite) return a;
    int up = 124 - top_bit(a.significand);
    if ((a.exponent - up) % 2 != 0) up -= 1;
    const u128 radicand = a.significand << up;
    u128 root = 0;
    for (int bit = 63; bit >= 0; --bit) {
        const u128 tried = root | (u128{1} << bit);
        if (tried * tried <= radicand) root = tried;
    }
    return {Kind::finite, false, root, (a.exponent - up) / 2, root * root != radicand};
}

int compare(const Number& a, const Number& b) {
    if (a.kind == Kind::nan || b.kind == Kind::nan) return 2;
    const auto sign = [](const Number& n) { return n.kind == Kind::zero ? 0 : n.negative ? -1 : 1; };
    if (sign(a) != sign(b)) return sign(a) < sign(b) ? -1 : 1;
    if (sign(a) == 0) return 0;
    if (a.kind == Kind::infinite || b.kind == Kind::infinite) {
        if (a.kind == b.kind) return 0;
        return (a.kind == Kind::infinite) == (sign(a) > 0) ? 1 : -1;
    }
    const Number difference = add(a, negate(b), Rounding::nearest_even);
    return difference.kind == Kind::zero ? 0 : difference.negative ? -1 : 1;
}

Number round_to_integral(const Number& a, Rounding rounding) {
    if (a.kind != Kind::finite || a.exponent >= 0) return a;
    Number n = a;
    n.significand = in_units(a, 0, rounding);
    n.exponent = 0;
    n.sticky = false;
    if (n.significand == 0) n.kind = Kind::zero;
    return n;
}

u64 clamp_to_integer(const Number& a, std::int64_t lowest, u64 highest) {
    if (a.kind == Kind::zero) return 0;
    const bool huge = a.kind == Kind::infinite || a.exponent + top_bit(a.significand) >= 64;
    if (a.negative) {
        const u64 limit = u64{0} - static_cast<u64>(lowest);
        if (huge || in_units(a, 0, Rounding::zero) > limit) return static_cast<u64>(lowest);
        return u64{0} - static_cast<u64>(in_units(a, 0, Rounding::zero));
    }
    if (huge || in_units(a, 0, Rounding::zero) > highest) return highest;
    return static_cast<u64>(in_units(a, 0, Rounding::zero));
}

}  // namespace emulator::specification
