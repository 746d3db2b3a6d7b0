// Integer arithmetic, on 128-bit integers that hold every exact result.
#include <algorithm>
#include <string>

#include "emulator/src/specification/operation.h"

namespace emulator::specification {

namespace {

using ptx::Type;
using u64 = std::uint64_t;
using i128 = __int128;
using u128 = unsigned __int128;

i128 value(u64 bits, Type type) {
    const int n = bits_of(type);
    if (!is_signed(type)) return static_cast<i128>(truncated(bits, n));
    return static_cast<std::int64_t>(sign_extended(bits, n));
}
bool wide_enough(Type type) { return is_integer(type) && bits_of(type) >= 16; }
i128 clamp(i128 v, Type type) {
    const int n = bits_of(type);
    const i128 low = is_signed(type) ? -(i128{1} << (n - 1)) : 0;
    const i128 high = is_signed(type) ? (i128{1} << (n - 1)) - 1 : (i128{1} << n) - 1;
    return std::min(std::max(v, low), high);
}
// The exact product as 128 bits; of unsigned 64-bit operands it needs all of them.
u128 product(u64 a, u64 b, Type type) {
    return static_cast<u128>(value(a, type)) * static_cast<u128>(value(b, type));
}
Type twice(Type type) {
    return type == Type::u16   ? Type::u32
           : type == Type::s16 ? Type::s32
           : type == Type::u32 ? Type::u64
           : type == Type::s32 ? Type::s64
                               : Type::none;
}

Operation binary(Type type, std::function<u64(u64, u64)> f) {
    Operation o;
    o.destination = type;
    o.sources = {type, type};
    o.compute = [f = std::move(f)](const u64* s, u64* d) { d[0] = f(s[0], s[1]); };
    return o;
}
Operation ternary(Type type, std::function<u64(u64, u64, u64)> f) {
    Operation o;
    o.destination = type;
    o.sources = {type, type, type};
    o.compute = [f = std::move(f)](const u64* s, u64* d) { d[0] = f(s[0], s[1], s[2]); };
    return o;
}

// d and the carry flag; `subtracts`: the flag is a borrow.
Operation with_carry(Type type, bool subtracts, bool in, bool out) {
    const int n = bits_of(type);
    Operation o;
    o.destination = type;
    o.sources = {type, type};
    o.reads_carry = in;
    o.writes_carry = out;
    o.compute = [=](const u64* s, u64* d) {
        const i128 a = static_cast<i128>(truncated(s[0], n)), b = static_cast<i128>(truncated(s[1], n)),
                   c = in ? static_cast<i128>(s[2]) : 0;
        const i128 exact = subtracts ? a - b - c : a + b + c;
        d[0] = truncated(static_cast<u64>(exact), n);
        d[1] = exact < 0 || (exact >> n) != 0;
    };
    return o;
}

std::optional<Operation> add_or_subtract(const ptx::Instruction& in) {
    const bool subtracts = in.opcode == "sub" || in.opcode == "subc", chained = in.opcode.size() == 4;
    Words words(in);
    const bool out = words.take("cc"), sat = words.take("sat");
    const auto type = words.take_type();
    if (!type || !words.empty()) return std::nullopt;
    if (*type == Type::u16x2 || *type == Type::s16x2) {
        if (subtracts || chained || out || sat) return std::nullopt;
        return binary(*type, [](u64 a, u64 b) {
            return truncated(a + b, 16) | truncated((a >> 16) + (b >> 16), 16) << 16;
        });
    }
    if (!wide_enough(*type)) return std::nullopt;
    if (chained || out) {
        if (sat || bits_of(*type) < 32) return std::nullopt;
        return with_carry(*type, subtracts, chained, out);
    }
    if (sat && *type != Type::s32) return std::nullopt;
    return binary(*type, [=, t = *type](u64 a, u64 b) {
        const i128 exact = subtracts ? value(a, t) - value(b, t) : value(a, t) + value(b, t);
        return static_cast<u64>(sat ? clamp(exact, t) : exact);
    });
}

std::optional<Operation> multiply(const ptx::Instruction& in) {  // mul mad madc
    Words words(in);
    const bool sat = words.take("sat"), out = words.take("cc"), chained = in.opcode == "madc";
    const auto part = words.take_one_of({"lo", "hi", "wide"});
    const auto type = words.take_type();
    if (!part || !type || !words.empty() || !wide_enough(*type)) return std::nullopt;
    const Type t = *type;
    const int n = bits_of(t);
    const bool adds = in.opcode != "mul", hi = *part == "hi", is_wide = *part == "wide";
    if (!adds && (sat || out)) return std::nullopt;
    if (is_wide && (twice(t) == Type::none || sat || out || chained)) return std::nullopt;
    const Type result = is_wide ? twice(t) : t;
    const auto selected = [=](u64 a, u64 b) -> u64 {
        const u128 p = product(a, b, t);
        return is_wide ? static_cast<u64>(p) : truncated(static_cast<u64>(hi ? p >> n : p), n);
    };
    Operation o;
    o.destination = result;
    if (!adds) {
        o.sources = {t, t};
        o.compute = [=](const u64* s, u64* d) { d[0] = selected(s[0], s[1]); };
        return o;
    }
    o.sources = {t, t, result};
    if (chained || out) {
        if (n < 32) return std::nullopt;
        if (sat) return std::nullopt;
        o.reads_carry = chained;
        o.writes_carry = out;
        o.compute = [=](const u64* s, u64* d) {
            const u128 sum = u128{selected(s[0], s[1])} + truncated(s[2], n) + (chained ? s[3] : 0);
            d[0] = truncated(static_cast<u64>(sum), n);
            d[1] = (sum >> n) != 0;
        };
        return o;
    }
    if (sat) {
        if (!hi || t != Type::s32) return std::nullopt;
        o.compute = [=](const u64* s, u64* d) {
            d[0] = static_cast<u64>(clamp(value(selected(s[0], s[1]), t) + value(s[2], t), t));
        };
        return o;
    }
    o.compute = [=](const u64* s, u64* d) { d[0] = selected(s[0], s[1]) + s[2]; };
    return o;
}

std::optional<Operation> multiply24(const ptx::Instruction& in) {  // mul24 mad24
    Words words(in);
    const auto part = words.take_one_of({"lo", "hi"});
    const bool sat = words.take("sat");
    const auto type = words.take_type();
    if (!part || !words.empty() || (type != Type::u32 && type != Type::s32)) return std::nullopt;
    const bool adds = in.opcode == "mad24", hi = *part == "hi", negative = *type == Type::s32;
    if (sat && (!adds || !hi || !negative)) return std::nullopt;
    const auto of = [=](u64 a, u64 b) {
        const i128 x = negative ? static_cast<i128>(static_cast<std::int64_t>(sign_extended(a, 24)))
                                : static_cast<i128>(truncated(a, 24));
        const i128 y = negative ? static_cast<i128>(static_cast<std::int64_t>(sign_extended(b, 24)))
                                : static_cast<i128>(truncated(b, 24));
        const i128 p = x * y;
        return static_cast<u64>(hi ? p >> 16 : p);
    };
    if (!adds) return binary(*type, of);
    return ternary(*type, [=, t = *type](u64 a, u64 b, u64 c) {
        return sat ? static_cast<u64>(clamp(value(of(a, b), t) + value(c, t), t)) : of(a, b) + c;
    });
}

std::optional<Operation> divide(const ptx::Instruction& in) {
    Words words(in);
    const auto type = words.take_type();
    if (!type || !words.empty() || !wide_enough(*type)) return std::nullopt;
    const Type t = *type;
    const bool remainder = in.opcode == "rem";
    return binary(t, [=](u64 a, u64 b) -> u64 {
        const i128 x = value(a, t), y = value(b, t);
        // "Division by zero yields an unspecified, machine-specific value": what current parts give.
        if (y == 0) return remainder ? a : ~u64{0};
        return static_cast<u64>(remainder ? x % y : x / y);
    });
}

std::optional<Operation> minimum(const ptx::Instruction& in) {
    Words words(in);
    const bool relu = words.take("relu"), maximum = in.opcode == "max";
    const auto type = words.take_type();
    if (!type || !words.empty()) return std::nullopt;
    const auto choose = [=](u64 a, u64 b, Type t) {
        const i128 x = value(a, t), y = value(b, t);
        const i128 r = maximum ? std::max(x, y) : std::min(x, y);
        return static_cast<u64>(relu ? std::max<i128>(r, 0) : r);
    };
    if (*type == Type::u16x2 || *type == Type::s16x2) {
        const Type half = *type == Type::s16x2 ? Type::s16 : Type::u16;
        if (relu && half == Type::u16) return std::nullopt;
        return binary(*type, [=](u64 a, u64 b) {
            return truncated(choose(a, b, half), 16) | truncated(choose(a >> 16, b >> 16, half), 16) << 16;
        });
    }
    if (!wide_enough(*type) || (relu && *type != Type::s32)) return std::nullopt;
    return binary(*type, [=, t = *type](u64 a, u64 b) { return choose(a, b, t); });
}

std::optional<Operation> sum_of_products(const ptx::Instruction& in) {  // dp4a dp2a
    Words words(in);
    const bool four = in.opcode == "dp4a";
    const auto part = words.take_one_of({"lo", "hi"});
    const auto a = words.take_type(), b = words.take_type();
    if (part.has_value() == four || !a || !b || !words.empty()) return std::nullopt;
    for (const Type t : {*a, *b})
        if (t != Type::u32 && t != Type::s32) return std::nullopt;
    const bool hi = part == "hi", sa = *a == Type::s32, sb = *b == Type::s32;
    return ternary(Type::u32, [=](u64 x, u64 y, u64 c) {
        u64 sum = c;
        for (int k = 0; k < (four ? 4 : 2); ++k) {
            const int width = four ? 8 : 16;
            const u64 u = x >> (width * k), v = y >> (8 * (k + (hi ? 2 : 0)));
            sum += (sa ? sign_extended(u, width) : truncated(u, width)) *
                   (sb ? sign_extended(v, 8) : truncated(v, 8));
        }
        return truncated(sum, 32);
    });
}

}  // namespace

std::optional<Operation> integer_operation(const ptx::Instruction& in) {
    const std::string& op = in.opcode;
    if (op == "add" || op == "sub" || op == "addc" || op == "subc") return add_or_subtract(in);
    if (op == "mul" || op == "mad" || op == "madc") return multiply(in);
    if (op == "mul24" || op == "mad24") return multiply24(in);
    if (op == "div" || op == "rem") return divide(in);
    if (op == "min" || op == "max") return minimum(in);
    if (op == "dp4a" || op == "dp2a") return sum_of_products(in);
    Words words(in);
    const auto type = words.take_type();
    if (!type || !words.empty() || !wide_enough(*type)) return std::nullopt;
    const Type t = *type;
    if (op == "sad")
        return ternary(t, [=](u64 a, u64 b, u64 c) {
            const i128 x = value(a, t), y = value(b, t);
            return c + static_cast<u64>(x < y ? y - x : x - y);
        });
    if ((op == "abs" || op == "neg") && is_signed(t)) {
        Operation o;
        o.destination = t;
        o.sources = {t};
        const bool always = op == "neg";
        o.compute = [=](const u64* s, u64* d) { d[0] = always || value(s[0], t) < 0 ? u64{0} - s[0] : s[0]; };
        return o;
    }
    return std::nullopt;
}

}  // namespace emulator::specification
