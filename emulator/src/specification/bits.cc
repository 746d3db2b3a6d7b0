// Logic, shifts and bit fields, bit by bit where the PTX ISA writes them so.
#include <algorithm>
#include <string>

#include "emulator/src/specification/operation.h"

namespace emulator::specification {

namespace {

using ptx::Type;
using u64 = std::uint64_t;

bool bit(u64 v, u64 at) { return at < 64 && ((v >> at) & 1) != 0; }

Operation make(Type destination, std::vector<Type> sources, std::function<u64(const u64*)> f) {
    Operation o;
    o.destination = destination;
    o.sources = std::move(sources);
    o.compute = [f = std::move(f)](const u64* s, u64* d) { d[0] = f(s); };
    return o;
}

u64 permuted(u64 a, u64 b, const int (&bytes)[4], const bool (&sign)[4]) {
    const u64 all = truncated(a, 32) | b << 32;
    u64 d = 0;
    for (int k = 0; k < 4; ++k) {
        u64 byte = (all >> (8 * bytes[k])) & 0xff;
        if (sign[k]) byte = bit(byte, 7) ? 0xff : 0;
        d |= byte << (8 * k);
    }
    return d;
}

std::optional<Operation> permute(Words& words) {
    const auto mode = words.take_one_of({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
    if (words.take_type() != Type::b32 || !words.empty()) return std::nullopt;
    const std::vector<Type> sources = {Type::b32, Type::b32, Type::b32};
    if (!mode)
        return make(Type::b32, sources, [](const u64* s) {
            int bytes[4];
            bool sign[4];
            for (int k = 0; k < 4; ++k) {
                bytes[k] = static_cast<int>((s[2] >> (4 * k)) & 7);
                sign[k] = bit(s[2], 4 * static_cast<u64>(k) + 3);
            }
            return permuted(s[0], s[1], bytes, sign);
        });
    return make(Type::b32, sources, [mode = *mode](const u64* s) {
        const int n = static_cast<int>(s[2] & 3);
        int bytes[4] = {};
        for (int k = 0; k < 4; ++k)
            bytes[k] = mode == "f4e"   ? n + k
                       : mode == "b4e" ? (n - k) & 7
                       : mode == "rc8" ? n
                       : mode == "ecl" ? std::max(k, n)
                       : mode == "ecr" ? std::min(k, n)
                                       : (n & 1) * 2 + (k & 1);
        return permuted(s[0], s[1], bytes, {false, false, false, false});
    });
}

std::optional<Operation> logic(const ptx::Instruction& in, Words& words) {  // and or xor not cnot
    const auto type = words.take_type();
    if (!type || !words.empty()) return std::nullopt;
    if (*type != Type::pred && (!is_integer(*type) || bits_of(*type) < 16)) return std::nullopt;
    const Type t = *type;
    const int n = t == Type::pred ? 1 : bits_of(t);
    if (in.opcode == "cnot") {
        if (t == Type::pred) return std::nullopt;
        return make(t, {t}, [=](const u64* s) { return u64{truncated(s[0], n) == 0}; });
    }
    if (in.opcode == "not") return make(t, {t}, [=](const u64* s) { return truncated(~s[0], n); });
    const char op = in.opcode[0];
    return make(t, {t, t}, [=](const u64* s) {
        u64 d = 0;
        for (u64 i = 0; i < static_cast<u64>(n); ++i) {
            const bool a = bit(s[0], i), b = bit(s[1], i);
            d |= u64{op == 'a' ? a && b : op == 'o' ? a || b : a != b} << i;
        }
        return d;
    });
}

std::optional<Operation> shift(const ptx::Instruction& in, Words& words) {
    const auto type = words.take_type();
    if (!type || !words.empty() || !is_integer(*type) || bits_of(*type) < 16) return std::nullopt;
    const Type t = *type;
    const u64 n = static_cast<u64>(bits_of(t));
    const bool left = in.opcode == "shl";
    return make(t, {t, Type::u32}, [=](const u64* s) {
        const u64 by = std::min(truncated(s[1], 32), n);
        u64 d = 0;
        for (u64 i = 0; i < n; ++i) {
            const bool one = left         ? i >= by && bit(s[0], i - by)
                             : i + by < n ? bit(s[0], i + by)
                                          : is_signed(t) && bit(s[0], n - 1);
            d |= u64{one} << i;
        }
        return d;
    });
}

std::optional<Operation> funnel(Words& words) {
    const auto direction = words.take_one_of({"l", "r"}), mode = words.take_one_of({"clamp", "wrap"});
    if (!direction || !mode || words.take_type() != Type::b32 || !words.empty()) return std::nullopt;
    const bool left = *direction == "l", wrap = *mode == "wrap";
    return make(Type::b32, {Type::b32, Type::b32, Type::b32}, [=](const u64* s) {
        const u64 c = truncated(s[2], 32), n = wrap ? c & 31 : std::min<u64>(c, 32);
        const u64 a = truncated(s[0], 32), b = truncated(s[1], 32);
        return truncated(left ? (b << n) | (a >> (32 - n)) : (b << (32 - n)) | (a >> n), 32);
    });
}

std::optional<Operation> field(const ptx::Instruction& in, Words& words) {
    const auto type = words.take_type();
    if (!type || !words.empty() || !is_integer(*type) || bits_of(*type) < 32) return std::nullopt;
    const Type t = *type;
    const u64 msb = static_cast<u64>(bits_of(t)) - 1;
    if (in.opcode == "bfi")
        return make(t, {t, t, Type::u32, Type::u32}, [=](const u64* s) {
            const u64 pos = s[2] & 0xff, len = s[3] & 0xff;
            u64 f = s[1];
            for (u64 i = 0; i < len && pos + i <= msb; ++i) {
                f &= ~(u64{1} << (pos + i));
                f |= u64{bit(s[0], i)} << (pos + i);
            }
            return f;
        });
    return make(t, {t, Type::u32, Type::u32}, [=](const u64* s) {
        const u64 pos = s[1] & 0xff, len = s[2] & 0xff;
        const bool sbit = is_signed(t) && len != 0 && bit(s[0], std::min(pos + len - 1, msb));
        u64 d = 0;
        for (u64 i = 0; i <= msb; ++i) d |= u64{i < len && pos + i <= msb ? bit(s[0], pos + i) : sbit} << i;
        return d;
    });
}

std::optional<Operation> count(const ptx::Instruction& in, Words& words) {  // popc clz brev bfind
    const bool amount = words.take("shiftamt");
    const auto type = words.take_type();
    if (!type || !words.empty() || !is_integer(*type) || bits_of(*type) < 32) return std::nullopt;
    const Type t = *type;
    const int n = bits_of(t);
    if (in.opcode == "bfind")
        return make(Type::u32, {t}, [=](const u64* s) {
            const u64 a = is_signed(t) && bit(s[0], static_cast<u64>(n) - 1) ? ~s[0] : s[0];
            for (int i = n - 1; i >= 0; --i)
                if (bit(a, static_cast<u64>(i))) return static_cast<u64>(amount ? n - 1 - i : i);
            return u64{0xffffffff};
        });
    if (amount) return std::nullopt;
    if (in.opcode == "brev")
        return make(t, {t}, [=](const u64* s) {
            u64 d = 0;
            for (int i = 0; i < n; ++i) d |= u64{bit(s[0], static_cast<u64>(n - 1 - i))} << i;
            return d;
        });
    const bool leading = in.opcode == "clz";
    return make(Type::u32, {t}, [=](const u64* s) {
        u64 d = 0;
        for (int i = n - 1; i >= 0; --i) {
            const bool one = bit(s[0], static_cast<u64>(i));
            if (leading && one) break;
            d += leading || one;
        }
        return d;
    });
}

std::optional<Operation> mask(const ptx::Instruction& in, Words& words) {  // bmsk szext
    const auto mode = words.take_one_of({"clamp", "wrap"});
    const auto type = words.take_type();
    if (!mode || !type || !words.empty() || bits_of(*type) != 32 || !is_integer(*type)) return std::nullopt;
    const bool wrap = *mode == "wrap";
    if (in.opcode == "bmsk") {
        if (*type != Type::b32) return std::nullopt;
        return make(Type::b32, {Type::b32, Type::b32}, [=](const u64* s) {
            const u64 start = wrap ? s[0] & 31 : truncated(s[0], 32),
                      width = wrap ? s[1] & 31 : truncated(s[1], 32);
            u64 d = 0;
            for (u64 i = 0; i < 32; ++i) d |= u64{i >= start && i - start < width} << i;
            return d;
        });
    }
    const bool is_negative = *type == Type::s32;
    return make(*type, {*type, Type::u32}, [=](const u64* s) {
        const u64 n = wrap ? s[1] & 31 : truncated(s[1], 32);
        if (n >= 32) return truncated(s[0], 32);
        if (n == 0) return u64{0};
        return is_negative ? truncated(sign_extended(s[0], static_cast<int>(n)), 32)
                           : truncated(s[0], static_cast<int>(n));
    });
}

// lop3.b32; with .and or .or also a predicate: is the result not zero, joined with another predicate.
std::optional<Operation> table_of_three(const ptx::Instruction& in, Words& words) {
    const auto join = words.take_one_of({"and", "or"});
    const bool pair = !in.operands.empty() && in.operands[0].pair.has_value();
    if (words.take_type() != Type::b32 || !words.empty() || in.operands.size() != (join ? 6u : 5u) ||
        pair != join.has_value())
        return std::nullopt;
    const auto* table = std::get_if<ptx::Immediate>(&in.operands[4].value);
    if (!table || table->is_float) return std::nullopt;
    Operation o;
    o.destination = Type::b32;
    o.sources = {Type::b32, Type::b32, Type::b32, Type::b32};
    if (join) o.sources.push_back(Type::pred);
    o.destinations = join ? 2 : 1;
    o.may_drop_the_first = true;
    o.compute = [lut = table->bits & 0xff, join](const u64* s, u64* d) {
        d[0] = 0;
        for (u64 i = 0; i < 32; ++i)
            d[0] |= u64{bit(lut, u64{bit(s[0], i)} * 4 + u64{bit(s[1], i)} * 2 + bit(s[2], i))} << i;
        if (join) d[1] = *join == "and" ? d[0] != 0 && s[4] : d[0] != 0 || s[4];
    };
    return o;
}

// The position of the |offset|-th one of the mask from base on, upwards or (negative offset) downwards.
u64 find_nth_set(const u64* s) {
    const u64 base = truncated(s[1], 32);
    const auto offset = static_cast<std::int64_t>(sign_extended(s[2], 32));
    constexpr u64 none = 0xffffffff;
    if (offset == 0) return bit(truncated(s[0], 32), base) ? base : none;
    std::int64_t left = (offset < 0 ? -offset : offset) - 1;
    for (auto at = static_cast<std::int64_t>(base); at >= 0 && at < 32; at += offset < 0 ? -1 : 1)
        if (bit(s[0], static_cast<u64>(at)) && left-- == 0) return static_cast<u64>(at);
    return none;
}

}  // namespace

std::optional<Operation> bit_operation(const ptx::Instruction& in) {
    const std::string& op = in.opcode;
    Words words(in);
    if (op == "and" || op == "or" || op == "xor" || op == "not" || op == "cnot") return logic(in, words);
    if (op == "shl" || op == "shr") return shift(in, words);
    if (op == "shf") return funnel(words);
    if (op == "prmt") return permute(words);
    if (op == "bfe" || op == "bfi") return field(in, words);
    if (op == "popc" || op == "clz" || op == "brev" || op == "bfind") return count(in, words);
    if (op == "bmsk" || op == "szext") return mask(in, words);
    if (op == "lop3") return table_of_three(in, words);
    if (op == "fns" && words.take_type() == Type::b32 && words.empty())
        return make(Type::b32, {Type::b32, Type::b32, Type::s32}, find_nth_set);
    return std::nullopt;
}

}  // namespace emulator::specification
