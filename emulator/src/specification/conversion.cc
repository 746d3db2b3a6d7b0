// cvt.
#include <algorithm>
#include <string>

#include "emulator/src/specification/operation.h"
#include "emulator/src/specification/soft_float.h"

namespace emulator::specification {

namespace {

using ptx::Type;
using u64 = std::uint64_t;
using Kind = Number::Kind;

std::optional<Format> format_of(Type type) {
    switch (type) {
        case Type::f16:
            return kHalf;
        case Type::bf16:
            return kBfloat;
        case Type::f32:
            return kSingle;
        case Type::f64:
            return kDouble;
        default:
            return std::nullopt;
    }
}
struct Range {
    std::int64_t lowest;
    u64 highest;
};
Range range_of(Type type) {
    const int n = bits_of(type);
    if (is_signed(type)) return {static_cast<std::int64_t>(~u64{0} << (n - 1)), (u64{1} << (n - 1)) - 1};
    return {0, truncated(~u64{0}, n)};
}
bool any_nan(u64 bits, const Format& f) { return is_nan(bits, f); }

// A NaN between floats: into f64 its payload moves along, quiet; every other result has one NaN.
u64 nan_result(u64 bits, const Format& from, const Format& to) {
    if (to.width != 64) return canonical_nan(to);
    if (from.width == 64) return bits;
    const u64 payload = bits & ((u64{1} << (from.precision - 1)) - 1);
    return (bits & sign_bit(from) ? sign_bit(to) : 0) | 0x7ff8000000000000ull |
           payload << (to.precision - from.precision);
}

Number limited(Number n, bool sat, bool relu) {
    if (relu && n.kind != Kind::nan && n.negative) return Number{};
    if (sat) {
        if (n.kind == Kind::nan || n.negative) return Number{};
        if (compare(n, from_integer(1, false)) > 0) return from_integer(1, false);
    }
    return n;
}

// .satfinite: the largest finite number in place of an infinity.
u64 finite_one(u64 bits, const Format& f) {
    const u64 infinity = encode({Kind::infinite, false, 0, 0, false}, f, Rounding::zero);
    return (bits & ~sign_bit(f)) == infinity ? bits - 1 : bits;
}

}  // namespace

std::optional<Operation> conversion(const ptx::Instruction& in) {
    if (in.opcode != "cvt") return std::nullopt;
    Words words(in);
    const bool ftz = words.take("ftz"), finite = words.take("satfinite"), sat = words.take("sat"),
               relu = words.take("relu");
    const auto name = words.take_one_of({"rni", "rzi", "rmi", "rpi", "rna", "rn", "rz", "rm", "rp"});
    const auto to = words.take_type(), from = words.take_type();
    if (!to || !from || !words.empty()) return std::nullopt;
    const bool integral = name && name->back() == 'i';
    Rounding rounding = Rounding::nearest_even;
    if (name && *name == "rna")
        rounding = Rounding::nearest_away;
    else if (name && (*name)[1] == 'z')
        rounding = Rounding::zero;
    else if (name && (*name)[1] == 'm')
        rounding = Rounding::down;
    else if (name && (*name)[1] == 'p')
        rounding = Rounding::up;

    Operation o;
    o.destination = *to;
    o.sources = {*from};
    if (*to == Type::f16x2 || *to == Type::bf16x2) {
        if (*from != Type::f32 || ftz || sat || !name || (*name != "rn" && *name != "rz"))
            return std::nullopt;
        const Format f = *to == Type::f16x2 ? kHalf : kBfloat;
        o.sources = {Type::f32, Type::f32};
        o.compute = [=](const u64* s, u64* d) {
            d[0] = 0;
            for (int k = 0; k < 2; ++k) {
                const Number n = limited(decode(s[1 - k], kSingle), false, relu);
                const u64 bits = encode(n, f, rounding);
                d[0] |= (finite ? finite_one(bits, f) : bits) << (16 * k);
            }
        };
        return o;
    }
    if (*to == Type::tf32) {
        if (*from != Type::f32 || ftz || sat || !name || integral || *name == "rm" || *name == "rp" ||
            (relu && *name == "rna"))
            return std::nullopt;
        o.compute = [=](const u64* s, u64* d) {
            const Format tf32{11, -126, 127, 19};
            Number n = decode(s[0], kSingle);
            if (relu && n.kind != Kind::nan && n.negative) n = Number{};
            const u64 bits = encode(n, tf32, rounding);
            d[0] =
                n.kind == Kind::nan ? canonical_nan(kSingle) : (finite ? finite_one(bits, tf32) : bits) << 13;
        };
        return o;
    }
    if (name && *name == "rna") return std::nullopt;
    const auto source = format_of(*from), result = format_of(*to);
    if ((!source && !is_integer(*from)) || (!result && !is_integer(*to))) return std::nullopt;
    const Type f = *from, t = *to;
    const bool single = f == Type::f32 || t == Type::f32;
    if (ftz && !single) return std::nullopt;
    if (relu && (!source || !result || result->width != 16)) return std::nullopt;
    if (finite && (f != Type::f32 || !result || result->width != 16 || integral)) return std::nullopt;

    if (!source && !result) {
        if (name) return std::nullopt;
        o.compute = [=](const u64* s, u64* d) {
            const int n = bits_of(f);
            d[0] = is_signed(f) ? sign_extended(s[0], n) : truncated(s[0], n);
            if (!sat) return;
            const Range range = range_of(t);
            if (is_signed(f) && static_cast<std::int64_t>(d[0]) < 0) {
                const auto v = static_cast<std::int64_t>(d[0]);
                d[0] = static_cast<u64>(std::max(v, range.lowest));
            } else {
                d[0] = std::min(d[0], range.highest);
            }
        };
        return o;
    }
    if (!source) {
        if (!name || integral) return std::nullopt;
        o.compute = [=, g = *result](const u64* s, u64* d) {
            const int n = bits_of(f);
            const u64 v = is_signed(f) ? sign_extended(s[0], n) : truncated(s[0], n);
            const bool negative = is_signed(f) && (v >> 63) != 0;
            d[0] =
                encode(limited(from_integer(negative ? u64{0} - v : v, negative), sat, false), g, rounding);
        };
        return o;
    }
    if (!result) {
        if (!integral) return std::nullopt;
        o.compute = [=, g = *source](const u64* s, u64* d) {
            const u64 bits = truncated(s[0], g.width);
            Number n = decode(ftz && is_subnormal(bits, g) ? bits & sign_bit(g) : bits, g);
            const Range range = range_of(t);
            if (n.kind == Kind::nan)
                d[0] = g.width == 64 || bits_of(t) == 64 ? u64{1} << (bits_of(t) - 1) : 0;
            else
                d[0] = clamp_to_integer(round_to_integral(n, rounding), range.lowest, range.highest);
        };
        return o;
    }
    const bool narrows = result->width < source->width || (result->width == source->width && f != t);
    if (narrows && (!name || integral)) return std::nullopt;
    if (!narrows && name && !integral && f != Type::bf16) return std::nullopt;
    if (integral && f != t) return std::nullopt;
    o.compute = [=, g = *source, h = *result](const u64* s, u64* d) {
        u64 bits = truncated(s[0], g.width);
        if (ftz && g.width == 32 && is_subnormal(bits, g)) bits &= sign_bit(g);
        Number n = decode(bits, g);
        if (any_nan(bits, g) && !sat) {
            d[0] = nan_result(bits, g, h);
            return;
        }
        if (integral) n = round_to_integral(n, rounding);
        d[0] = encode(limited(n, sat, relu), h, rounding);
        if (finite) d[0] = finite_one(d[0], h);
        if (ftz && h.width == 32 && is_subnormal(d[0], h)) d[0] &= sign_bit(h);
    };
    return o;
}

}  // namespace emulator::specification
