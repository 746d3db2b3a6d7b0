// Video instructions, in the stages of the PTX ISA: a part of each operand is taken and extended, the
// operation gives an exact integer, which is clamped, and then joined with c.
#include <algorithm>
#include <string>

#include "emulator/src/specification/operation.h"

namespace emulator::specification {

namespace {

using ptx::Type;
using u64 = std::uint64_t;
using i128 = __int128;

struct Part {
    int at, bits;
};
std::optional<Part> part_named(const std::string& selector) {
    if (selector.empty()) return Part{0, 32};
    if (selector.size() != 2) return std::nullopt;
    const int number = selector[1] - '0';
    if (selector[0] == 'b' && number >= 0 && number < 4) return Part{8 * number, 8};
    if (selector[0] == 'h' && number >= 0 && number < 2) return Part{16 * number, 16};
    return std::nullopt;
}
i128 extended(u64 bits, int n, bool negatives) {
    return negatives ? static_cast<i128>(static_cast<std::int64_t>(sign_extended(bits, n)))
                     : static_cast<i128>(truncated(bits, n));
}
i128 clamped(i128 v, int bits, bool negatives) {
    const i128 low = negatives ? -(i128{1} << (bits - 1)) : 0, high = low + (i128{1} << bits) - 1;
    return std::min(std::max(v, low), high);
}

struct Form {
    std::string operation, relation, second;
    bool d_signed = false, a_signed = false, b_signed = false, saturates = false, wraps = false;
};
std::optional<Form> form_of(Words& words, std::string operation) {
    Form f;
    f.operation = std::move(operation);
    if (f.operation == "vshl" || f.operation == "vshr") {
        f.wraps = words.take("wrap");
        if (!f.wraps && !words.take("clamp")) return std::nullopt;
    }
    const bool sets = f.operation == "vset";
    if (sets) {
        const auto relation = words.take_one_of({"eq", "ne", "lt", "le", "gt", "ge"});
        if (!relation) return std::nullopt;
        f.relation = *relation;
    }
    const auto is_word = [](std::optional<Type> t) { return t == Type::u32 || t == Type::s32; };
    const auto d = sets ? std::optional(Type::u32) : words.take_type();
    const auto a = words.take_type(), b = words.take_type();
    if (!is_word(d) || !is_word(a) || !is_word(b)) return std::nullopt;
    f.d_signed = is_signed(*d);
    f.a_signed = is_signed(*a);
    f.b_signed = is_signed(*b);
    if ((f.operation == "vshl" || f.operation == "vshr") && f.b_signed) return std::nullopt;
    f.saturates = words.take("sat");
    f.second = words.take_one_of({"add", "min", "max"}).value_or("");
    return f;
}

i128 exact(const Form& f, i128 a, i128 b) {
    const std::string& op = f.operation;
    if (op == "vadd") return a + b;
    if (op == "vsub") return a - b;
    if (op == "vavrg") return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    if (op == "vabsdiff") return a < b ? b - a : a - b;
    if (op == "vmin") return std::min(a, b);
    if (op == "vmax") return std::max(a, b);
    if (op == "vshl" || op == "vshr") {
        const int by = static_cast<int>(f.wraps ? b & 31 : std::min<i128>(b, 32));
        return op == "vshl" ? a << by : a >> by;
    }
    const std::string& r = f.relation;
    return r == "eq"   ? a == b
           : r == "ne" ? a != b
           : r == "lt" ? a < b
           : r == "le" ? a <= b
           : r == "gt" ? a > b
                       : a >= b;
}

std::optional<Operation> scalar(const ptx::Instruction& in, Words& words) {
    const auto form = form_of(words, in.opcode);
    if (!form || !words.empty() || in.operands.size() < 3 || in.operands.size() > 4) return std::nullopt;
    const auto pd = part_named(in.operands[0].selector), pa = part_named(in.operands[1].selector),
               pb = part_named(in.operands[2].selector);
    if (!pd || !pa || !pb) return std::nullopt;
    const Form f = *form;
    const bool merges = pd->bits != 32, three = in.operands.size() == 4;
    if (three && !in.operands[3].selector.empty()) return std::nullopt;
    if (merges && !f.second.empty()) return std::nullopt;
    if ((merges || !f.second.empty()) && !three) return std::nullopt;
    Operation o;
    o.destination = Type::u32;
    o.sources.assign(three ? 3 : 2, Type::u32);
    o.compute = [=](const u64* s, u64* d) {
        const i128 a = extended(s[0] >> pa->at, pa->bits, f.a_signed),
                   b = extended(s[1] >> pb->at, pb->bits, f.b_signed);
        i128 v = exact(f, a, b);
        // Without .sat 33 bits are left of it, the upper one a sign.
        v = f.saturates ? clamped(v, pd->bits, f.d_signed)
                        : static_cast<std::int64_t>(sign_extended(truncated(static_cast<u64>(v), 33), 33));
        const i128 c = three ? extended(s[2], 32, f.d_signed) : 0;
        if (f.second == "add") v += c;
        if (f.second == "min") v = std::min(v, c);
        if (f.second == "max") v = std::max(v, c);
        d[0] = truncated(static_cast<u64>(v), 32);
        if (!merges) return;
        d[0] = three ? s[2] : 0;
        for (int bit = 0; bit < pd->bits; ++bit) {
            const int to = pd->at + bit;
            d[0] = (d[0] & ~(u64{1} << to)) | ((static_cast<u64>(v) >> bit) & 1) << to;
        }
    };
    return o;
}

std::optional<Operation> multiply_add(const ptx::Instruction& in, Words& words) {
    const bool plus_one = words.take("po");
    const auto scale = words.take_one_of({"shr7", "shr15"});
    const auto form = form_of(words, "vmad");
    if (!form || !form->second.empty() || !words.empty() || in.operands.size() != 4) return std::nullopt;
    const auto pa = part_named(in.operands[1].selector), pb = part_named(in.operands[2].selector);
    if (!pa || !pb || !in.operands[0].selector.empty() || !in.operands[3].selector.empty())
        return std::nullopt;
    const bool product_negated = in.operands[1].negated != in.operands[2].negated,
               c_negated = in.operands[3].negated;
    if (((in.operands[1].negated || in.operands[2].negated) && (c_negated || plus_one)) ||
        (c_negated && plus_one))
        return std::nullopt;
    const Form f = *form;
    const bool negatives = f.a_signed || f.b_signed || product_negated || c_negated;
    const int by = !scale ? 0 : *scale == "shr7" ? 7 : 15;
    Operation o;
    o.destination = Type::u32;
    o.sources = {Type::u32, Type::u32, Type::u32};
    o.negates_itself = true;
    o.compute = [=](const u64* s, u64* d) {
        i128 sum =
            extended(s[0] >> pa->at, pa->bits, f.a_signed) * extended(s[1] >> pb->at, pb->bits, f.b_signed);
        int lowest = plus_one ? 1 : 0;
        u64 c = s[2];
        if (product_negated) {
            sum = -sum;
        } else if (c_negated) {
            c = ~c;
            lowest = 1;
        }
        sum += extended(c, 32, negatives) + lowest;
        const u64 kept = static_cast<u64>(sum >> by);
        const i128 result =
            negatives ? static_cast<i128>(static_cast<std::int64_t>(kept)) : static_cast<i128>(kept);
        d[0] = truncated(static_cast<u64>(f.saturates ? clamped(result, 32, negatives) : result), 32);
    };
    return o;
}

// ".b7654" of n elements: digit by digit, the highest element first.
std::optional<std::vector<int>> selected(const std::string& selector, char unit, int n,
                                         const std::string& otherwise) {
    const std::string digits = selector.empty() ? otherwise : selector.substr(1);
    if (!selector.empty() && selector[0] != unit) return std::nullopt;
    if (digits.size() != static_cast<std::size_t>(n)) return std::nullopt;
    std::vector<int> all;
    for (int k = 0; k < n; ++k) {
        const int digit = digits[static_cast<std::size_t>(n - 1 - k)] - '0';
        if (digit < 0 || digit >= 2 * n) return std::nullopt;
        all.push_back(digit);
    }
    return all;
}

std::optional<Operation> simd(const ptx::Instruction& in, Words& words) {
    const int n = in.opcode.back() - '0', bits = 32 / n;
    const char unit = n == 2 ? 'h' : 'b';
    const auto form = form_of(words, in.opcode.substr(0, in.opcode.size() - 1));
    if (!form || !words.empty() || in.operands.size() != 4) return std::nullopt;
    const Form f = *form;
    if ((!f.second.empty() && f.second != "add") || (!f.second.empty() && f.saturates)) return std::nullopt;
    const auto a = selected(in.operands[1].selector, unit, n, n == 2 ? "10" : "3210"),
               b = selected(in.operands[2].selector, unit, n, n == 2 ? "32" : "7654");
    if (!a || !b || !in.operands[3].selector.empty()) return std::nullopt;
    const std::string& mask = in.operands[0].selector;
    std::vector<bool> enabled(static_cast<std::size_t>(n), mask.empty());
    if (!mask.empty() && (mask[0] != unit || mask.size() < 2)) return std::nullopt;
    for (std::size_t i = 1; i < mask.size(); ++i) {
        const int digit = mask[i] - '0';
        if (digit < 0 || digit >= n || (i > 1 && mask[i] >= mask[i - 1])) return std::nullopt;
        enabled[static_cast<std::size_t>(digit)] = true;
    }
    Operation o;
    o.destination = Type::u32;
    o.sources = {Type::u32, Type::u32, Type::u32};
    o.compute = [=](const u64* s, u64* d) {
        const u64 pair = truncated(s[0], 32) | s[1] << 32;
        d[0] = s[2];
        for (int k = 0; k < n; ++k) {
            const auto i = static_cast<std::size_t>(k);
            if (!enabled[i]) continue;
            i128 v = exact(f, extended(pair >> (bits * (*a)[i]), bits, f.a_signed),
                           extended(pair >> (bits * (*b)[i]), bits, f.b_signed));
            if (f.saturates) v = clamped(v, bits, f.d_signed);
            if (f.second == "add") {
                d[0] = truncated(d[0] + static_cast<u64>(v), 32);
                continue;
            }
            const u64 all = truncated(~u64{0}, bits) << (bits * k);
            d[0] = (d[0] & ~all) | (static_cast<u64>(v) << (bits * k) & all);
        }
    };
    return o;
}

}  // namespace

std::optional<Operation> video_operation(const ptx::Instruction& in) {
    Words words(in);
    const auto is = [&](std::initializer_list<const char*> names, const std::string& name) {
        return std::any_of(names.begin(), names.end(), [&](const char* each) { return name == each; });
    };
    if (is({"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset"}, in.opcode))
        return scalar(in, words);
    if (in.opcode == "vmad") return multiply_add(in, words);
    const char last = in.opcode.empty() ? ' ' : in.opcode.back();
    if ((last == '2' || last == '4') && is({"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"},
                                           in.opcode.substr(0, in.opcode.size() - 1)))
        return simd(in, words);
    return std::nullopt;
}

}  // namespace emulator::specification
