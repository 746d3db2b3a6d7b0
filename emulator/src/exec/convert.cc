// cvt between every pair of types. The decoder fills sub (source kind), sub2 (destination kind) and rounding.
// Kinds: 0-7 u8 s8 u16 s16 u32 s32 u64 s64, 8 f16, 9 bf16, 10 f32, 11 f64.
// rounding: 0 rn, 1 rz, 2 rm, 3 rp, 4 rna; the integer forms (rni ...) are the same numbers with `imm` 1.
#include "emulator/src/exec/lanes.h"
#include "emulator/src/exec/scalar.h"
#include "emulator/src/exec/tables.h"

namespace emulator::exec {
namespace EMULATOR_ISA {
namespace {

double round_integral(double v, int rounding) {
    switch (rounding) {
        case 0:
            return std::nearbyint(v);
        case 1:
            return std::trunc(v);
        case 2:
            return std::floor(v);
        case 3:
            return std::ceil(v);
        default:
            return std::round(v);
    }
}

// .relu: max(v, +0); what it makes of -0 the ISA leaves open.
double not_below_zero(double v) { return std::signbit(v) && v == v ? 0.0 : v; }

// A wide integer (value and sign apart) to float with one rounding.
struct Range {
    s64 lowest;
    u64 highest;
};
const Range ranges[8] = {
    {0, 255},         {-128, 127},
    {0, 65535},       {-32768, 32767},
    {0, 0xffffffffu}, {-2147483648ll, 2147483647},
    {0, ~0ull},       {std::numeric_limits<s64>::min(), static_cast<u64>(std::numeric_limits<s64>::max())}};

u64 float_to_integer(double v, int kind, int rounding, bool from_f64) {
    // NaN: zero, except 0x8000... when the source is f64 or the result has 64 bits (PTX ISA, cvt)
    if (v != v) return kind >= 6 || from_f64 ? u64{1} << (8 * (1 << (kind / 2)) - 1) : 0;
    v = round_integral(v, rounding);
    const Range& range = ranges[kind];
    if (v <= static_cast<double>(range.lowest)) return static_cast<u64>(range.lowest);
    if (v >= static_cast<double>(range.highest)) return range.highest;
    return v < 0 ? static_cast<u64>(static_cast<s64>(v)) : static_cast<u64>(v);
}

u64 extend(u64 bits, int kind) {
    switch (kind) {
        case 0:
            return static_cast<u8>(bits);
        case 1:
            return static_cast<u64>(static_cast<s64>(static_cast<s8>(bits)));
        case 2:
            return static_cast<u16>(bits);
        case 3:
            return static_cast<u64>(static_cast<s64>(static_cast<s16>(bits)));
        case 4:
            return static_cast<u32>(bits);
        case 5:
            return static_cast<u64>(static_cast<s64>(static_cast<s32>(bits)));
        default:
            return bits;
    }
}
u64 clamp_integer(u64 value, bool from_signed, int kind) {
    const Range& range = ranges[kind];
    if (from_signed && static_cast<s64>(value) < 0) {
        if (range.lowest == 0) return 0;
        return static_cast<s64>(value) < range.lowest ? static_cast<u64>(range.lowest) : value;
    }
    return value > range.highest ? range.highest : value;
}

// Integer to float with the given rounding: through an odd-rounded double for f32 and f16.
double integer_to_double_odd(u64 value, bool is_signed, bool* exact) {
    const bool negative = is_signed && static_cast<s64>(value) < 0;
    u64 m = negative ? 0 - value : value;
    int shift = 0;
    bool lost = false;
    if (m >> 53) {
        shift = 11 - std::countl_zero(m);
        lost = (m & ((u64{1} << shift) - 1)) != 0;
        m >>= shift;
        if (lost) m |= 1;
    }
    *exact = !lost;
    const double v = std::ldexp(static_cast<double>(m), shift);
    return negative ? -v : v;
}
u64 integer_to_f64(u64 value, bool is_signed, int rounding) {
    const bool negative = is_signed && static_cast<s64>(value) < 0;
    u64 m = negative ? 0 - value : value;
    int shift = 0;
    if (m >> 53) {
        shift = 11 - std::countl_zero(m);
        const u64 rest = m & ((u64{1} << shift) - 1), half = u64{1} << (shift - 1);
        m >>= shift;
        const bool up = rounding == 0   ? rest > half || (rest == half && (m & 1))
                        : rounding == 1 ? false
                        : rounding == 2 ? negative && rest
                                        : !negative && rest;
        m += up;
    }
    const double v = std::ldexp(static_cast<double>(m), shift);
    return as_bits(negative ? -v : v);
}

// double (exact or rounded to odd) to f32 bits.
u32 double_to_float(double v, int rounding) {
    if (rounding == 0) return canonical(as_bits(static_cast<float>(v)));
    if (v != v) return kNan32;
    const bool negative = std::signbit(v);
    const u32 sign = negative ? 0x80000000u : 0;
    if (std::isinf(v)) return sign | 0x7f800000u;
    const Rounded r = round_magnitude(std::fabs(v), negative, 23, -126, 127, rounding);
    if (r.overflow) {
        const bool to_infinity = rounding == 4 || (rounding == 2 && negative) || (rounding == 3 && !negative);
        return sign | (to_infinity ? 0x7f800000u : 0x7f7fffffu);
    }
    return sign | r.code;
}

u32 finite(const Instr& in, u32 half, u32 infinity) {
    return in.has(flag::satfinite) && (half & 0x7fffu) == infinity ? half - 1 : half;
}

u64 convert_one(const Instr& in, u64 bits) {
    const int from = in.sub, to = in.sub2, rounding = in.rounding;
    const bool sat = in.has(flag::sat), ftz = in.has(flag::ftz);
    if (from < 8) {
        const u64 value = extend(bits, from);
        const bool is_signed = from & 1;
        if (to < 8) return sat ? clamp_integer(value, is_signed, to) : value;
        if (to == 11) {
            const u64 r = integer_to_f64(value, is_signed, rounding);
            if (!sat) return r;
            const double v = as_double(r);
            return as_bits(v > 0 ? (v < 1 ? v : 1.0) : 0.0);
        }
        bool exact = true;
        const double v = integer_to_double_odd(value, is_signed, &exact);
        const double clamped = !sat || v == 0 ? v : v > 0 ? 1.0 : 0.0;
        return to == 10  ? double_to_float(clamped, rounding)
               : to == 8 ? double_to_half(clamped, rounding)
                         : double_to_bf16(clamped, rounding);
    }
    double v = 0;
    switch (from) {
        case 8:
            v = half_to_float(static_cast<u32>(bits) & 0xffff);
            break;
        case 9:
            v = bf16_to_float(static_cast<u32>(bits));
            break;
        case 10:
            v = as_float(ftz ? flush(static_cast<u32>(bits)) : static_cast<u32>(bits));
            break;
        default:
            v = as_double(bits);
            break;
    }
    if (to < 8) return float_to_integer(v, to, rounding, from == 11);
    if (in.imm == 1 && v == v) {
        const double whole = round_integral(v, rounding);
        v = whole == 0 ? std::copysign(0.0, v) : whole;
    }
    if (sat) v = v > 0 ? (v < 1 ? v : 1.0) : 0.0;
    if (in.has(flag::relu)) v = not_below_zero(v);
    switch (to) {
        case 8:
            return finite(in, double_to_half(v, rounding), 0x7c00);
        case 9:
            return finite(in, double_to_bf16(v, rounding), 0x7f80);
        case 10: {
            const u32 r = double_to_float(v, in.imm == 1 ? 0 : rounding);
            return ftz ? flush(r) : r;
        }
        default:
            return v != v ? as_bits(v) : as_bits(v);
    }
}

void cvt(Warp& w, const Instr& in, Mask exec) {
    static const u64 keep[12] = {0xff,  0xff,  0xffff, 0xffff, 0xffffffffu, 0xffffffffu,
                                 ~0ull, ~0ull, 0xffff, 0xffff, 0xffffffffu, ~0ull};
    const bool sign_extend = in.sub2 < 8 && (in.sub2 & 1);
    for_lanes(exec, [&](int i) {
        u64 r = convert_one(in, lane_value(w, in.source(0), i));
        // a destination register wider than the type is filled by extension
        r = sign_extend ? extend(r, in.sub2) : r & keep[in.sub2];
        const Slot& d = in.destination(0);
        if (!d.is_wide()) r &= in.size == 2 ? 0xffffu : 0xffffffffu;
        set_lane(w, d, i, r);
    });
}

// The pairs that ordinary code is full of, as vector loops.
void widen_u32(Warp& w, const Instr& in, Mask exec) {
    map1<u64, u32>(w, in, exec, [](u32 a) { return u64{a}; });
}
void widen_s32(Warp& w, const Instr& in, Mask exec) {
    map1<s64, s32>(w, in, exec, [](s32 a) { return s64{a}; });
}
void truncate_64(Warp& w, const Instr& in, Mask exec) {
    const u64* a = wide(w, in.source(0));
    alignas(64) u32 r[kLanes];
    for (int i = 0; i < kLanes; ++i) r[i] = static_cast<u32>(a[i]);
    put(narrow(w, in.destination(0)), r, exec);
}
void s32_to_f32(Warp& w, const Instr& in, Mask exec) {
    const u32* a = narrow(w, in.source(0));
    alignas(64) u32 r[kLanes];
    for (int i = 0; i < kLanes; ++i) r[i] = as_bits(static_cast<float>(static_cast<s32>(a[i])));
    put(narrow(w, in.destination(0)), r, exec);
}
void f32_sat(Warp& w, const Instr& in, Mask exec) {
    const u32* a = narrow(w, in.source(0));
    alignas(64) u32 r[kLanes];
    const bool ftz = in.has(flag::ftz);
    for (int i = 0; i < kLanes; ++i) {
        const float v = as_float(ftz ? flush(a[i]) : a[i]);
        r[i] = as_bits(v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f);
    }
    put(narrow(w, in.destination(0)), r, exec);
}
void half_to_f32(Warp& w, const Instr& in, Mask exec) {
    const u32* a = narrow(w, in.source(0));
    alignas(64) u32 r[kLanes];
    for (int i = 0; i < kLanes; ++i) {
        // exponent re-biased by a multiplication, which also normalises subnormals
        const u32 h = a[i];
        const u32 magnitude = (h & 0x7fffu) << 13;
        const u32 finite = as_bits(as_float(magnitude) * 5.192296858534828e33f);  // 2^112
        const u32 v = (h & 0x7c00u) == 0x7c00u ? magnitude | 0x7f800000u : finite;
        r[i] = canonical(v | (h & 0x8000u) << 16);
    }
    put(narrow(w, in.destination(0)), r, exec);
}
void f32_to_half(Warp& w, const Instr& in, Mask exec) {
    const u32* a = narrow(w, in.source(0));
    alignas(64) u32 r[kLanes];
    const bool ftz = in.has(flag::ftz);
    for (int i = 0; i < kLanes; ++i) r[i] = float_to_half(as_float(ftz ? flush(a[i]) : a[i]));
    put(narrow(w, in.destination(0)), r, exec);
}
void bf16_to_f32(Warp& w, const Instr& in, Mask exec) {
    map1<u32, u32>(w, in, exec, [](u32 a) { return canonical(a << 16); });
}
void f32_to_bf16(Warp& w, const Instr& in, Mask exec) {
    map1<u32, u32>(w, in, exec, [](u32 a) { return float_to_bf16(as_float(a)); });
}

// cvt.rn(.relu)(.satfinite).f16x2/bf16x2.f32 d, a, b: a to the high half. sub2: 8 or 9.
void pack_x2(Warp& w, const Instr& in, Mask exec) {
    const u32 *a = narrow(w, in.source(0)), *b = narrow(w, in.source(1));
    u32* d = narrow(w, in.destination(0));
    const auto one = [&](u32 bits) -> u32 {
        double v = as_float(bits);
        if (in.has(flag::relu)) v = not_below_zero(v);
        return in.sub2 == 8 ? finite(in, double_to_half(v, in.rounding), 0x7c00)
                            : finite(in, double_to_bf16(v, in.rounding), 0x7f80);
    };
    for_lanes(exec, [&](int i) { d[i] = one(a[i]) << 16 | one(b[i]); });
}

// ---- 8-bit floats ----
// sub 0: e4m3 (no infinity, NaN 0x7f, largest 448), 1: e5m2.
u32 to_fp8(double v, int format) {
    const bool negative = std::signbit(v);
    const u32 sign = negative ? 0x80u : 0;
    if (v != v) return 0x7f;
    const double magnitude = std::fabs(v);
    const u32 largest = format == 0 ? 0x7e : 0x7b;
    if (std::isinf(v)) return sign | largest;
    const Rounded r = format == 0 ? round_magnitude(magnitude, negative, 3, -6, 8, 0)
                                  : round_magnitude(magnitude, negative, 2, -14, 15, 0);
    if (r.overflow || r.code > largest) return sign | largest;  // .satfinite is obligatory
    return sign | r.code;
}
u32 fp8_to_half(u32 b, int format) {
    const u32 sign = (b & 0x80u) << 8;
    if (format == 1) return (b & 0x7f) > 0x7c ? 0x7fffu : sign | (b & 0x7fu) << 8;
    if ((b & 0x7f) == 0x7f) return 0x7fff;
    const u32 e = (b >> 3) & 0xf, m = b & 7;
    const double v = e == 0 ? std::ldexp(m, -9) : std::ldexp(8 + m, static_cast<int>(e) - 10);
    return sign | double_to_half(v);
}
void pack_fp8(Warp& w, const Instr& in, Mask exec) {  // from two f32, the first to the high byte
    const u32 *a = narrow(w, in.source(0)), *b = narrow(w, in.source(1));
    u32* d = narrow(w, in.destination(0));
    const bool relu = in.has(flag::relu);
    const auto one = [&](u32 bits) {
        double v = as_float(bits);
        if (relu) v = not_below_zero(v);
        return to_fp8(v, in.sub);
    };
    for_lanes(exec, [&](int i) { d[i] = one(a[i]) << 8 | one(b[i]); });
}
void half_to_fp8(Warp& w, const Instr& in, Mask exec) {  // f16x2 -> two bytes
    const u32* a = narrow(w, in.source(0));
    u32* d = narrow(w, in.destination(0));
    const bool relu = in.has(flag::relu);
    const auto one = [&](u32 h) {
        double v = half_to_float(h & 0xffff);
        if (relu) v = not_below_zero(v);
        return to_fp8(v, in.sub);
    };
    for_lanes(exec, [&](int i) { d[i] = one(a[i] >> 16) << 8 | one(a[i]); });
}
void fp8_to_half2(Warp& w, const Instr& in, Mask exec) {
    const u32* a = narrow(w, in.source(0));
    u32* d = narrow(w, in.destination(0));
    const bool relu = in.has(flag::relu);
    const auto one = [&](u32 b) {
        const u32 h = fp8_to_half(b & 0xff, in.sub);
        return relu && (h & 0x8000u) ? 0u : h;
    };
    for_lanes(exec, [&](int i) { d[i] = one(a[i] >> 8) << 16 | one(a[i]); });
}
// ---- 4- and 6-bit floats, which have neither infinities nor NaN: e2m1, e2m3, e3m2 by `sub` ----
struct NarrowFormat {
    int mantissa, lowest, highest;  // exponents of normal numbers
    int bits, shift;                // of a code; the distance of the two codes in a register
};
constexpr NarrowFormat kNarrow[3] = {{1, 0, 2, 4, 4}, {3, 0, 2, 6, 8}, {2, -2, 4, 6, 8}};

u32 to_narrow(u32 bits, const NarrowFormat& f, bool relu) {
    const u32 largest = (1u << (f.bits - 1)) - 1;
    const double v = as_float(bits);
    if (v != v) return largest;
    const bool negative = std::signbit(v);
    if (relu && negative) return 0;
    const u32 sign = negative ? 1u << (f.bits - 1) : 0;
    if (std::isinf(v)) return sign | largest;
    const Rounded r = round_magnitude(std::fabs(v), negative, f.mantissa, f.lowest, f.highest, 0);
    return sign | (r.overflow || r.code > largest ? largest : r.code);
}
u32 narrow_to_half(u32 code, const NarrowFormat& f, bool relu) {
    const bool negative = (code >> (f.bits - 1)) & 1;
    if (relu && negative) return 0;
    const u32 field = (code & ((1u << (f.bits - 1)) - 1)) >> f.mantissa, m = code & ((1u << f.mantissa) - 1);
    const double significand = static_cast<double>(field == 0 ? m : m + (1u << f.mantissa));
    const double v =
        std::ldexp(significand, f.lowest + std::max(static_cast<int>(field) - 1, 0) - f.mantissa);
    return (negative ? 0x8000u : 0) | double_to_half(v);
}
void pack_narrow(Warp& w, const Instr& in, Mask exec) {
    const u32 *a = narrow(w, in.source(0)), *b = narrow(w, in.source(1));
    u32* d = narrow(w, in.destination(0));
    const NarrowFormat& f = kNarrow[in.sub];
    const bool relu = in.has(flag::relu);
    for_lanes(exec, [&](int i) { d[i] = to_narrow(a[i], f, relu) << f.shift | to_narrow(b[i], f, relu); });
}
void unpack_narrow(Warp& w, const Instr& in, Mask exec) {
    const u32* a = narrow(w, in.source(0));
    u32* d = narrow(w, in.destination(0));
    const NarrowFormat& f = kNarrow[in.sub];
    const bool relu = in.has(flag::relu);
    const u32 code = (1u << f.bits) - 1;
    for_lanes(exec, [&](int i) {
        d[i] = narrow_to_half((a[i] >> f.shift) & code, f, relu) << 16 | narrow_to_half(a[i] & code, f, relu);
    });
}

// ---- ue8m0: a power of two, 2^(code - 127); 255 is NaN. rounding: 1 down, 3 up, of the magnitude ----
u32 to_ue8m0(u32 bits, const Instr& in) {
    const u32 magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return 255;
    const u32 largest = in.has(flag::satfinite) ? 254 : 255;
    if (magnitude == 0x7f800000u) return largest;
    const u32 exponent = magnitude >> 23, fraction = magnitude & 0x7fffffu;
    // 2^-127, the smallest, is a subnormal f32.
    if (exponent == 0) return in.rounding == 3 && fraction > 0x400000u ? 1 : 0;
    const u32 code = exponent + (in.rounding == 3 && fraction != 0 ? 1 : 0);
    return code > 254 ? largest : code;
}
void pack_ue8m0(Warp& w, const Instr& in, Mask exec) {
    const u32 *a = narrow(w, in.source(0)), *b = narrow(w, in.source(1));
    u32* d = narrow(w, in.destination(0));
    for_lanes(exec, [&](int i) { d[i] = to_ue8m0(a[i], in) << 8 | to_ue8m0(b[i], in); });
}
void bf16_to_ue8m0(Warp& w, const Instr& in, Mask exec) {
    map1<u32, u32>(w, in, exec,
                   [&](u32 a) { return to_ue8m0(a & 0xffff0000u, in) << 8 | to_ue8m0(a << 16, in); });
}
void ue8m0_to_bf16(Warp& w, const Instr& in, Mask exec) {
    const auto one = [](u32 code) -> u32 { return code == 255 ? 0x7fffu : code == 0 ? 0x0040u : code << 7; };
    map1<u32, u32>(w, in, exec, [&](u32 a) { return one((a >> 8) & 0xff) << 16 | one(a & 0xff); });
}
void to_tf32(Warp& w, const Instr& in, Mask exec) {  // rna (rounding 4), rn or rz: 10 explicit bits
    map1<u32, u32>(w, in, exec, [&](u32 a) -> u32 {
        constexpr u32 infinity = 0x7f800000u, half = 0x1000u, kept = 0xffffe000u;
        if ((a & 0x7fffffffu) > infinity) return kNan32;
        if (in.has(flag::relu) && (a >> 31)) a = 0;
        u32 r = a;
        if ((a & 0x7fffffffu) < infinity)
            r = (in.rounding == 4   ? a + half
                 : in.rounding == 1 ? a
                                    : a + (half - 1) + ((a >> 13) & 1)) &
                kept;
        const bool overflow = in.has(flag::satfinite) && (r & infinity) == infinity;
        return overflow ? (r & 0x80000000u) | (0x7f7fffffu & kept) : r;
    });
}
// size: bits of one element; destination: c << 2 size | a << size | b.
void pack_integers(Warp& w, const Instr& in, Mask exec) {
    const u32 *a = narrow(w, in.source(0)), *b = narrow(w, in.source(1));
    const u32* c = in.sources > 2 ? narrow(w, in.source(2)) : nullptr;
    const s64 low = in.has(flag::is_signed) ? -(s64{1} << (in.size - 1)) : 0;
    const s64 high = low + (s64{1} << in.size) - 1;
    const u64 keep = (u64{1} << in.size) - 1;
    const auto one = [&](u32 bits) {
        const s64 v = static_cast<s32>(bits);
        return static_cast<u64>(v < low ? low : v > high ? high : v) & keep;
    };
    u32* d = narrow(w, in.destination(0));
    for_lanes(exec, [&](int i) {
        const u64 above = c ? u64{c[i]} << (2 * in.size) : 0;
        d[i] = static_cast<u32>(above | one(a[i]) << in.size | one(b[i]));
    });
}

const HandlerEntry entries[] = {
    {"cvt", cvt},
    {"cvt.u64.u32", widen_u32},
    {"cvt.s64.s32", widen_s32},
    {"cvt.u32.u64", truncate_64},
    {"cvt.rn.f32.s32", s32_to_f32},
    {"cvt.sat.f32.f32", f32_sat},
    {"cvt.f32.f16", half_to_f32},
    {"cvt.rn.f16.f32", f32_to_half},
    {"cvt.f32.bf16", bf16_to_f32},
    {"cvt.rn.bf16.f32", f32_to_bf16},
    {"cvt.x2.f32", pack_x2},
    {"cvt.fp8.f32", pack_fp8},
    {"cvt.fp8.f16x2", half_to_fp8},
    {"cvt.f16x2.fp8", fp8_to_half2},
    {"cvt.tf32.f32", to_tf32},
    {"cvt.pack", pack_integers},
    {"cvt.narrow.f32", pack_narrow},
    {"cvt.f16x2.narrow", unpack_narrow},
    {"cvt.ue8m0x2.f32", pack_ue8m0},
    {"cvt.ue8m0x2.bf16x2", bf16_to_ue8m0},
    {"cvt.bf16x2.ue8m0x2", ue8m0_to_bf16},
};

}  // namespace

HandlerTable convert_handlers() { return {entries, sizeof(entries) / sizeof(entries[0])}; }

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec
