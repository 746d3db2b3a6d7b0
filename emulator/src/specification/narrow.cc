// cvt to and from formats of 4 to 8 bits, which stand in pairs, and cvt.pack of integers. A format has so few
// numbers that all of them are looked at: the result is the nearest one.
#include <string>

#include "emulator/src/specification/operation.h"
#include "emulator/src/specification/soft_float.h"

namespace emulator::specification {

namespace {

using ptx::Type;
using u64 = std::uint64_t;
using Kind = Number::Kind;

struct Narrow {
    int bits;           // of a code, its sign included
    int fraction;       // of them explicit bits of the significand
    int lowest;         // exponent of the smallest normal number
    u64 largest;        // code of the largest finite number
    u64 nan;            // code of a NaN; 0: there is none
    bool has_infinity;  // the code above the largest
    int distance;       // bits between the two codes of a pair
};
std::optional<Narrow> narrow_format(Type type) {
    switch (type) {
        case Type::e4m3x2:
            return Narrow{8, 3, -6, 0x7e, 0x7f, false, 8};
        case Type::e5m2x2:
            return Narrow{8, 2, -14, 0x7b, 0x7f, true, 8};
        case Type::e2m3x2:
            return Narrow{6, 3, 0, 0x1f, 0, false, 8};
        case Type::e3m2x2:
            return Narrow{6, 2, -2, 0x1f, 0, false, 8};
        case Type::e2m1x2:
            return Narrow{4, 1, 0, 0x7, 0, false, 4};
        default:
            return std::nullopt;
    }
}

// The number of a code without its sign.
Number magnitude_of(u64 code, const Narrow& f) {
    const u64 field = code >> f.fraction, rest = truncated(code, f.fraction);
    Number n = from_integer(field == 0 ? rest : rest + (u64{1} << f.fraction), false);
    n.exponent = f.lowest + (field == 0 ? 0 : static_cast<int>(field) - 1) - f.fraction;
    return n;
}

u64 to_narrow(Number n, const Narrow& f, bool relu) {
    const u64 sign = u64{1} << (f.bits - 1);
    if (n.kind == Kind::nan) return f.nan ? f.nan : f.largest;
    if (relu && n.negative) return 0;
    const u64 negative = n.negative ? sign : 0;
    n.negative = false;
    if (n.kind == Kind::infinite || compare(n, magnitude_of(f.largest, f)) >= 0) return negative | f.largest;
    u64 below = 0;
    while (compare(magnitude_of(below + 1, f), n) <= 0) ++below;
    const Number down = add(n, negate(magnitude_of(below, f)), Rounding::zero),
                 up = add(magnitude_of(below + 1, f), negate(n), Rounding::zero);
    const int order = compare(down, up);
    const bool above = order > 0 || (order == 0 && (below & 1) != 0);
    return negative | (above ? below + 1 : below);
}
u64 to_half(u64 code, const Narrow& f, bool relu) {
    const bool negative = ((code >> (f.bits - 1)) & 1) != 0;
    const u64 magnitude = truncated(code, f.bits - 1);
    if (f.nan && magnitude > f.largest && !(f.has_infinity && magnitude == f.largest + 1))
        return canonical_nan(kHalf);
    if (relu && negative) return 0;
    Number n = magnitude_of(magnitude, f);
    if (magnitude > f.largest) n.kind = Kind::infinite;
    n.negative = negative;
    return encode(n, kHalf, Rounding::nearest_even);
}

// A power of two, 2^(code - 127), without a sign; 255 is NaN.
u64 to_power(u64 single, bool up, bool finite) {
    const Number n = decode(single & ~sign_bit(kSingle), kSingle);
    if (n.kind == Kind::nan) return 255;
    const u64 too_large = finite ? 254 : 255;
    if (n.kind == Kind::infinite) return too_large;
    const auto power = [](u64 code) {
        Number p = from_integer(1, false);
        p.exponent = static_cast<int>(code) - 127;
        return p;
    };
    if (up) {
        for (u64 code = 0; code <= 254; ++code)
            if (compare(power(code), n) >= 0) return code;
        return too_large;
    }
    u64 code = 0;
    while (code < 254 && compare(power(code + 1), n) <= 0) ++code;
    return code;
}

Operation one_source(Type to, Type from, std::function<u64(u64)> f) {
    Operation o;
    o.destination = to;
    o.sources = {from};
    o.compute = [f = std::move(f)](const u64* s, u64* d) { d[0] = f(s[0]); };
    return o;
}
// The first operand gives the upper part.
Operation two_sources(Type to, int distance, std::function<u64(u64)> f) {
    Operation o;
    o.destination = to;
    o.sources = {Type::f32, Type::f32};
    o.compute = [=, f = std::move(f)](const u64* s, u64* d) { d[0] = f(s[0]) << distance | f(s[1]); };
    return o;
}

std::optional<Operation> pack(Words& words, const ptx::Instruction& in) {
    if (!words.take("sat")) return std::nullopt;
    const auto name = words.take_one_of({"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"});
    if (!name || words.take_type() != Type::s32) return std::nullopt;
    const int n = std::stoi(name->substr(1));
    const bool negatives = (*name)[0] == 's', three = n != 16;
    if (three && words.take_type() != Type::b32) return std::nullopt;
    if (!words.empty() || in.operands.size() != (three ? 4u : 3u)) return std::nullopt;
    const std::int64_t low = negatives ? -(std::int64_t{1} << (n - 1)) : 0,
                       high = low + (std::int64_t{1} << n) - 1;
    const auto one = [=](u64 bits) {
        const auto v = static_cast<std::int64_t>(sign_extended(bits, 32));
        return truncated(static_cast<u64>(v < low ? low : v > high ? high : v), n);
    };
    Operation o;
    o.destination = Type::b32;
    o.sources = {Type::s32, Type::s32};
    if (three) o.sources.push_back(Type::b32);
    o.compute = [=](const u64* s, u64* d) {
        d[0] = one(s[0]) << n | one(s[1]) | (three ? truncated(s[2] << (2 * n), 32) : 0);
    };
    return o;
}

}  // namespace

std::optional<Operation> narrow_conversion(const ptx::Instruction& in) {
    if (in.opcode != "cvt") return std::nullopt;
    Words words(in);
    if (words.take("pack")) return pack(words, in);
    const bool finite = words.take("satfinite"), relu = words.take("relu");
    const auto rounding = words.take_one_of({"rn", "rz", "rp"});
    const auto to = words.take_type(), from = words.take_type();
    if (!rounding || !to || !from || !words.empty()) return std::nullopt;
    if (const auto format = narrow_format(*to)) {
        if (!finite || rounding != "rn") return std::nullopt;
        const Narrow f = *format;
        if (*from == Type::f32)
            return two_sources(*to, f.distance,
                               [=](u64 x) { return to_narrow(decode(x, kSingle), f, relu); });
        if (*from != Type::f16x2 || f.bits != 8) return std::nullopt;
        return one_source(*to, Type::f16x2, [=](u64 x) {
            return to_narrow(decode(x >> 16, kHalf), f, relu) << 8 |
                   to_narrow(decode(truncated(x, 16), kHalf), f, relu);
        });
    }
    if (const auto format = narrow_format(*from)) {
        if (finite || rounding != "rn" || *to != Type::f16x2) return std::nullopt;
        return one_source(*to, *from, [relu, f = *format](u64 x) {
            return to_half(truncated(x >> f.distance, f.bits), f, relu) << 16 |
                   to_half(truncated(x, f.bits), f, relu);
        });
    }
    if (relu) return std::nullopt;
    if (*to == Type::ue8m0x2) {
        if (rounding == "rn") return std::nullopt;
        const bool up = rounding == "rp";
        if (*from == Type::f32) return two_sources(*to, 8, [=](u64 x) { return to_power(x, up, finite); });
        if (*from != Type::bf16x2) return std::nullopt;
        return one_source(*to, *from, [=](u64 x) {
            return to_power(truncated(x >> 16, 16) << 16, up, finite) << 8 |
                   to_power(truncated(x, 16) << 16, up, finite);
        });
    }
    if (*from == Type::ue8m0x2 && *to == Type::bf16x2 && rounding == "rn" && !finite)
        return one_source(*to, *from, [](u64 x) {
            const auto one = [](u64 code) {
                Number n = from_integer(1, false);
                n.exponent = static_cast<int>(code) - 127;
                return code == 255 ? canonical_nan(kBfloat) : encode(n, kBfloat, Rounding::nearest_even);
            };
            return one(truncated(x >> 8, 8)) << 16 | one(truncated(x, 8));
        });
    return std::nullopt;
}

}  // namespace emulator::specification
