// Floating-point arithmetic and comparisons: PTX's rules around exact arithmetic (soft_float.h).
#include <string>

#include "emulator/src/specification/operation.h"
#include "emulator/src/specification/soft_float.h"

namespace emulator::specification {

namespace {

using ptx::Type;
using u64 = std::uint64_t;
using Kind = Number::Kind;

struct Shape {
    Format format;
    Type element;
    int elements = 1;
};
std::optional<Shape> shape_of(Type type) {
    switch (type) {
        case Type::f16:
        case Type::f16x2:
            return Shape{kHalf, Type::f16, type == Type::f16 ? 1 : 2};
        case Type::bf16:
        case Type::bf16x2:
            return Shape{kBfloat, Type::bf16, type == Type::bf16 ? 1 : 2};
        case Type::f32:
            return Shape{kSingle, type, 1};
        case Type::f32x2:
            return Shape{kSingle, Type::f32, 2};
        case Type::f64:
            return Shape{kDouble, type, 1};
        default:
            return std::nullopt;
    }
}
bool is_half(const Shape& shape) { return shape.format.width == 16; }

u64 flushed(u64 bits, const Format& f) { return is_subnormal(bits, f) ? bits & sign_bit(f) : bits; }
u64 one(const Format& f) { return encode(from_integer(1, false), f, Rounding::zero); }

// The modifiers that float instructions share.
struct Style {
    bool ftz = false, sat = false, relu = false;
    Rounding rounding = Rounding::nearest_even;
};
std::optional<Rounding> rounding_named(const std::optional<std::string>& name) {
    if (!name || *name == "rn") return Rounding::nearest_even;
    if (*name == "rz") return Rounding::zero;
    if (*name == "rm") return Rounding::down;
    return Rounding::up;
}

// What becomes of the bits of a result: .ftz, .sat, .relu, and the NaN of the type. A NaN of f64 is the first
// operand that is one, made quiet, else the default one: the ISA leaves it open, and this is IEEE's advice.
u64 finish(u64 bits, const Style& style, const Format& f) {
    if (style.ftz) bits = flushed(bits, f);
    const bool nan = is_nan(bits, f), negative = (bits & sign_bit(f)) != 0;
    if (style.sat) {
        if (nan || negative) return 0;
        return bits > one(f) ? one(f) : bits;
    }
    if (nan) return f.width == 64 ? bits : canonical_nan(f);
    return style.relu && negative ? 0 : bits;
}
u64 double_nan(const u64* s, int n) {
    for (int k = 0; k < n; ++k)
        if (is_nan(s[k], kDouble)) return s[k] | (u64{1} << 51);
    return 0xfff8000000000000ull;
}

// f maps bit patterns of one element to one; inputs are flushed before with .ftz.
Operation elementwise(Type type, const Shape& shape, int sources, const Style& style,
                      std::function<u64(const u64*)> f) {
    Operation o;
    o.destination = type;
    o.sources.assign(static_cast<std::size_t>(sources), type);
    o.compute = [=, f = std::move(f)](const u64* s, u64* d) {
        const int n = shape.format.width;
        d[0] = 0;
        for (int e = 0; e < shape.elements; ++e) {
            u64 x[3] = {};
            for (int k = 0; k < sources; ++k) {
                x[k] = truncated(s[k] >> (n * e), n);
                if (style.ftz) x[k] = flushed(x[k], shape.format);
            }
            d[0] |= finish(f(x), style, shape.format) << (n * e);
        }
    };
    return o;
}

// Exact arithmetic on numbers, then one rounding.
Operation rounded(Type type, const Shape& shape, int sources, const Style& style,
                  std::function<Number(const Number*, Rounding)> f) {
    return elementwise(type, shape, sources, style, [=, f = std::move(f)](const u64* x) {
        Number numbers[3];
        for (int k = 0; k < sources; ++k) numbers[k] = decode(x[k], shape.format);
        const Number result = f(numbers, style.rounding);
        if (result.kind == Kind::nan && shape.format.width == 64) return double_nan(x, sources);
        return encode(result, shape.format, style.rounding);
    });
}

std::optional<Operation> arithmetic(const ptx::Instruction& in, int sources) {
    Words words(in);
    Style style;
    style.ftz = words.take("ftz");
    style.sat = words.take("sat");
    style.relu = words.take("relu");
    const auto direction = words.take_one_of({"rn", "rz", "rm", "rp"});
    const auto type = words.take_type();
    const auto shape = type ? shape_of(*type) : std::nullopt;
    if (!shape || !words.empty()) return std::nullopt;
    style.rounding = *rounding_named(direction);
    const std::string& op = in.opcode;
    const bool fused = op == "fma" || op == "mad";
    if (shape->format.width == 32 && shape->elements == 2 &&
        (op == "div" || op == "rcp" || op == "sqrt" || op == "mad" || style.sat))
        return std::nullopt;
    const bool must_round = fused || op == "div" || op == "rcp" || op == "sqrt";
    if (must_round && !direction) return std::nullopt;
    if (is_half(*shape)) {
        if (style.rounding != Rounding::nearest_even || op == "div" || op == "rcp" || op == "sqrt" ||
            op == "mad")
            return std::nullopt;
        if (style.relu && !fused) return std::nullopt;
        if (shape->element == Type::bf16 && (style.ftz || style.sat)) return std::nullopt;
    } else if (style.relu || (shape->format.width == 64 && (style.ftz || style.sat))) {
        return std::nullopt;
    }
    if ((op == "div" || op == "rcp" || op == "sqrt") && style.sat) return std::nullopt;
    return rounded(*type, *shape, sources, style, [op, fused](const Number* n, Rounding r) {
        if (fused) return add(multiply(n[0], n[1]), n[2], r);
        if (op == "add") return add(n[0], n[1], r);
        if (op == "sub") return add(n[0], n[1].kind == Kind::nan ? n[1] : negate(n[1]), r);
        if (op == "mul") return multiply(n[0], n[1]);
        if (op == "div") return divide(n[0], n[1]);
        if (op == "rcp") return divide(from_integer(1, false), n[0]);
        return square_root(n[0]);
    });
}

// add, sub, fma of f32 with f16 or bf16: all operands but the last are of the narrow type, and exact in f32.
std::optional<Operation> mixed_arithmetic(const ptx::Instruction& in, int sources) {
    Words words(in);
    Style style;
    style.sat = words.take("sat");
    const auto direction = words.take_one_of({"rn", "rz", "rm", "rp"});
    const auto type = words.take_type(), from = words.take_type();
    if (type != Type::f32 || (from != Type::f16 && from != Type::bf16) || !words.empty()) return std::nullopt;
    const bool fused = in.opcode == "fma";
    if (fused && !direction) return std::nullopt;
    style.rounding = *rounding_named(direction);
    Operation o;
    o.destination = Type::f32;
    o.sources.assign(static_cast<std::size_t>(sources), *from);
    o.sources.back() = Type::f32;
    o.compute = [=, narrow = *from == Type::f16 ? kHalf : kBfloat, minus = in.opcode == "sub"](const u64* s,
                                                                                               u64* d) {
        const Number last = decode(truncated(s[sources - 1], 32), kSingle);
        const Number a = decode(truncated(s[0], 16), narrow);
        const Number first = fused ? multiply(a, decode(truncated(s[1], 16), narrow)) : a;
        const Number sum = add(first, minus && last.kind != Kind::nan ? negate(last) : last, style.rounding);
        d[0] = finish(encode(sum, kSingle, style.rounding), style, kSingle);
    };
    return o;
}

std::optional<Operation> minimum(const ptx::Instruction& in) {
    Words words(in);
    Style style;
    style.ftz = words.take("ftz");
    const bool nan_wins = words.take("NaN"), xorsign = words.take("xorsign"), abs = words.take("abs");
    if (xorsign && !abs) return std::nullopt;
    const bool magnitudes = abs && !xorsign;
    const auto type = words.take_type();
    const auto shape = type ? shape_of(*type) : std::nullopt;
    if (!shape || !words.empty()) return std::nullopt;
    const bool maximum = in.opcode == "max";
    const Format f = shape->format;
    if (f.width == 64 && (style.ftz || nan_wins || xorsign)) return std::nullopt;
    if (shape->element == Type::bf16 && style.ftz) return std::nullopt;
    const bool three = in.operands.size() == 4;
    if (three && (*type != Type::f32 || xorsign)) return std::nullopt;
    if ((magnitudes && !three) || (shape->format.width == 32 && shape->elements == 2)) return std::nullopt;
    return elementwise(*type, *shape, three ? 3 : 2, style, [=](const u64* x) {
        const u64 kept = abs ? ~sign_bit(f) : ~u64{0};
        const u64 a = x[0] & kept, b = x[1] & kept;
        const u64 sign = (x[0] ^ x[1]) & sign_bit(f);
        u64 r = smaller(a, b, maximum, nan_wins, f);
        if (three) r = smaller(r, x[2] & kept, maximum, nan_wins, f);
        return xorsign && !is_nan(r, f) ? r | sign : r;
    });
}

std::optional<Operation> sign(const ptx::Instruction& in) {  // abs neg copysign
    Words words(in);
    Style style;
    style.ftz = words.take("ftz");
    const auto type = words.take_type();
    const auto shape = type ? shape_of(*type) : std::nullopt;
    if (!shape || !words.empty()) return std::nullopt;
    const Format f = shape->format;
    const u64 s = sign_bit(f);
    if (in.opcode == "copysign") {
        if (is_half(*shape) || style.ftz) return std::nullopt;
        Operation o;
        o.destination = *type;
        o.sources = {*type, *type};
        o.compute = [=](const u64* x, u64* d) { d[0] = (x[0] & s) | (x[1] & ~s); };
        return o;
    }
    if (style.ftz && (f.width == 64 || shape->element == Type::bf16)) return std::nullopt;
    if (*type == Type::f32x2) return std::nullopt;
    const bool abs = in.opcode == "abs";
    return elementwise(*type, *shape, 1, style, [=](const u64* x) { return abs ? x[0] & ~s : x[0] ^ s; });
}

std::optional<Operation> property(const ptx::Instruction& in) {  // testp
    Words words(in);
    const auto name =
        words.take_one_of({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
    const auto type = words.take_type();
    if (!name || !words.empty() || (type != Type::f32 && type != Type::f64)) return std::nullopt;
    const Format f = *type == Type::f32 ? kSingle : kDouble;
    Operation o;
    o.destination = Type::pred;
    o.sources = {*type};
    o.compute = [f, name = *name](const u64* s, u64* d) {
        const Number n = decode(s[0], f);
        const bool subnormal = is_subnormal(s[0], f);
        d[0] = name == "finite"       ? n.kind == Kind::finite || n.kind == Kind::zero
               : name == "infinite"   ? n.kind == Kind::infinite
               : name == "number"     ? n.kind != Kind::nan
               : name == "notanumber" ? n.kind == Kind::nan
               : name == "normal"     ? n.kind == Kind::finite && !subnormal
                                      : subnormal;
    };
    return o;
}

// The 14 comparisons on -1, 0, 1 or 2 (unordered).
bool holds(const std::string& name, int order) {
    if (name == "num") return order != 2;
    if (name == "nan") return order == 2;
    const bool unordered_counts = name.size() == 3;  // equ neu ltu leu gtu geu
    if (order == 2) return unordered_counts;
    const std::string base = name.substr(0, 2);
    if (base == "eq") return order == 0;
    if (base == "ne") return order != 0;
    if (base == "lt" || base == "lo") return order < 0;
    if (base == "le" || base == "ls") return order <= 0;
    if (base == "gt" || base == "hi") return order > 0;
    return order >= 0;
}

std::optional<u64> true_value(Type result, Type compared) {
    const bool pair = compared == Type::f16x2 || compared == Type::bf16x2;
    switch (result) {
        case Type::u32:
        case Type::s32:
            return pair ? 0xffff : 0xffffffff;
        case Type::u16:
        case Type::s16:
            return 0xffff;
        case Type::f32:
            return one(kSingle);
        case Type::f16:
        case Type::f16x2:
            return one(kHalf);
        case Type::bf16:
        case Type::bf16x2:
            return one(kBfloat);
        default:
            return std::nullopt;
    }
}

}  // namespace

u64 smaller(u64 a, u64 b, bool maximum, bool nan_wins, const Format& f) {
    const bool a_nan = is_nan(a, f), b_nan = is_nan(b, f);
    if ((a_nan && b_nan) || (nan_wins && (a_nan || b_nan))) return canonical_nan(f);
    if (a_nan) return b;
    if (b_nan) return a;
    const Number x = decode(a, f), y = decode(b, f);
    int order = compare(x, y);
    if (order == 0) order = x.negative == y.negative ? 0 : x.negative ? -1 : 1;
    return (order <= 0) == !maximum ? a : b;
}

std::optional<Operation> float_operation(const ptx::Instruction& in) {
    const std::string& op = in.opcode;
    const bool mixed = in.has("f32") && (in.has("f16") || in.has("bf16"));
    if (mixed && (op == "add" || op == "sub")) return mixed_arithmetic(in, 2);
    if (mixed && op == "fma") return mixed_arithmetic(in, 3);
    if (op == "add" || op == "sub" || op == "mul" || op == "div") return arithmetic(in, 2);
    if (op == "fma" || op == "mad") return arithmetic(in, 3);
    if (op == "rcp" || op == "sqrt") return arithmetic(in, 1);
    if (op == "min" || op == "max") return minimum(in);
    if (op == "abs" || op == "neg" || op == "copysign") return sign(in);
    if (op == "testp") return property(in);
    return std::nullopt;
}

std::optional<Operation> comparison(const ptx::Instruction& in) {  // setp set slct selp
    const std::string& op = in.opcode;
    Words words(in);
    if (op == "selp") {
        const auto type = words.take_type();
        if (!type || !words.empty()) return std::nullopt;
        Operation o;
        o.destination = *type;
        o.sources = {*type, *type, Type::pred};
        o.compute = [](const u64* s, u64* d) { d[0] = s[2] ? s[0] : s[1]; };
        return o;
    }
    if (op == "slct") {
        const bool ftz = words.take("ftz");
        const auto type = words.take_type(), by = words.take_type();
        if (!type || !words.empty() || (by != Type::s32 && by != Type::f32)) return std::nullopt;
        if (ftz && by == Type::s32) return std::nullopt;
        Operation o;
        o.destination = *type;
        o.sources = {*type, *type, *by};
        // With or without .ftz: a subnormal is compared with zero by its sign, or is a zero, which is >= 0.
        o.compute = [ftz, real = *by == Type::f32](const u64* s, u64* d) {
            bool first = !((s[2] >> 31) & 1);
            if (real) {
                const int order = compare(decode(ftz ? flushed(s[2], kSingle) : s[2], kSingle), Number{});
                first = order == 0 || order == 1;
            }
            d[0] = first ? s[0] : s[1];
        };
        return o;
    }
    if (op != "setp" && op != "set") return std::nullopt;
    const auto name = words.take_one_of({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ",
                                         "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
    if (!name) return std::nullopt;
    const auto join = words.take_one_of({"and", "or", "xor"});
    const bool ftz = words.take("ftz");
    std::optional<Type> result = Type::pred;
    if (op == "set") result = words.take_type();
    const auto type = words.take_type();
    if (!result || !type || !words.empty()) return std::nullopt;
    const auto shape = shape_of(*type);
    const bool integer = is_integer(*type) && bits_of(*type) >= 16;
    if (*type == Type::f32x2) return std::nullopt;
    if (!shape && !integer) return std::nullopt;
    const bool unsigned_name = *name == "lo" || *name == "ls" || *name == "hi" || *name == "hs";
    if (integer && (ftz || name->size() == 3)) return std::nullopt;
    if (unsigned_name && (!integer || is_signed(*type))) return std::nullopt;
    if (ftz && (*type == Type::f64 || shape->element == Type::bf16)) return std::nullopt;
    const bool pair = shape && shape->elements == 2;
    const auto yes = op == "set" ? true_value(*result, *type) : std::optional<u64>(1);
    if (!yes) return std::nullopt;
    const Type t = *type;
    const auto order = [=](u64 a, u64 b, int element) {
        if (shape) {
            const Format f = shape->format;
            u64 x = truncated(a >> (f.width * element), f.width),
                y = truncated(b >> (f.width * element), f.width);
            if (ftz) {
                x = flushed(x, f);
                y = flushed(y, f);
            }
            return compare(decode(x, f), decode(y, f));
        }
        const int n = bits_of(t);
        if (is_signed(t)) {
            const auto x = static_cast<std::int64_t>(sign_extended(a, n)),
                       y = static_cast<std::int64_t>(sign_extended(b, n));
            return x < y ? -1 : x > y ? 1 : 0;
        }
        const u64 x = truncated(a, n), y = truncated(b, n);
        return x < y ? -1 : x > y ? 1 : 0;
    };
    const auto joined = [join](bool r, u64 c) {
        if (!join) return r;
        return *join == "and" ? r && c : *join == "or" ? r || c : r != (c != 0);
    };
    Operation o;
    o.sources = {t, t};
    if (join) o.sources.push_back(Type::pred);
    o.destination = *result;
    const std::string relation = *name;
    if (op == "set") {
        o.compute = [=](const u64* s, u64* d) {
            d[0] = 0;
            for (int e = 0; e < (pair ? 2 : 1); ++e)
                if (joined(holds(relation, order(s[0], s[1], e)), join ? s[2] : 0)) d[0] |= *yes << (16 * e);
        };
        return o;
    }
    o.destinations = in.operands.empty() || !in.operands[0].pair ? 1 : 2;
    if (pair && o.destinations != 2) return std::nullopt;
    o.compute = [=](const u64* s, u64* d) {
        const u64 c = join ? s[2] : 0;
        const bool first = holds(relation, order(s[0], s[1], 0));
        d[0] = joined(first, c);
        d[1] = pair ? joined(holds(relation, order(s[0], s[1], 1)), c) : joined(!first, c);
    };
    return o;
}

}  // namespace emulator::specification
