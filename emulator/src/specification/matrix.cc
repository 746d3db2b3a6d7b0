// mma.sync of dense matrices, ldmatrix, stmatrix and movmatrix. Which element lies where is the PTX ISA's
// ("Matrix fragments for mma"); how a tensor core adds is the model of MMA-Sim (arXiv 2511.10909): in steps,
// each of which aligns its exact products and the accumulator to the largest exponent, cuts what lies too far
// below, adds exactly, and rounds once.
#include <algorithm>
#include <cstdlib>

#include "emulator/src/specification/machine.h"
#include "emulator/src/specification/soft_float.h"

namespace emulator::specification {

using ptx::Type;
using Kind = Number::Kind;

namespace {

struct Product {
    int m = 0, n = 0, k = 0;
    Type a = Type::none, b = Type::none, c = Type::none;  // c: of the result, too
    bool saturates = false, conjunction = false;
};

int element_bits(Type type) {
    switch (type) {
        case Type::f64:
            return 64;
        case Type::f16:
        case Type::bf16:
            return 16;
        case Type::s8:
        case Type::u8:
        case Type::e4m3:
        case Type::e5m2:
            return 8;
        case Type::s4:
        case Type::u4:
            return 4;
        case Type::b1:
            return 1;
        default:
            return 32;
    }
}
// The shapes of the ISA, "mma" of dense matrices without m8n8k4 of halves.
bool has_shape(const Product& p) {
    struct Size {
        int m, k;
    };
    const auto one_of = [&](std::initializer_list<Size> sizes) {
        return p.n == 8 && std::any_of(sizes.begin(), sizes.end(),
                                       [&](const Size& s) { return s.m == p.m && s.k == p.k; });
    };
    const auto pair = [&](Type x, Type y) { return (p.a == x || p.a == y) && (p.b == x || p.b == y); };
    if (p.a == Type::f16 && p.b == Type::f16)
        return one_of({{16, 8}, {16, 16}}) && (p.c == Type::f32 || p.c == Type::f16);
    if (p.a == Type::bf16 && p.b == Type::bf16) return one_of({{16, 8}, {16, 16}}) && p.c == Type::f32;
    if (p.a == Type::tf32 && p.b == Type::tf32) return one_of({{16, 4}, {16, 8}}) && p.c == Type::f32;
    if (p.a == Type::f64 && p.b == Type::f64)
        return one_of({{8, 4}, {16, 4}, {16, 8}, {16, 16}}) && p.c == Type::f64;
    if (pair(Type::e4m3, Type::e5m2))
        return one_of({{16, 16}, {16, 32}}) && (p.c == Type::f32 || p.c == Type::f16);
    if (pair(Type::s8, Type::u8)) return one_of({{8, 16}, {16, 16}, {16, 32}}) && p.c == Type::s32;
    if (pair(Type::s4, Type::u4)) return one_of({{8, 32}, {16, 32}, {16, 64}}) && p.c == Type::s32;
    if (p.a == Type::b1 && p.b == Type::b1)
        return one_of({{8, 128}, {16, 128}, {16, 256}}) && p.c == Type::s32;
    return false;
}
std::optional<Product> product_of(const ptx::Instruction& in) {
    Words words(in);
    Product p;
    if (!words.take("sync")) return std::nullopt;
    words.take("aligned");
    for (const std::string& m : in.modifiers)
        if (std::sscanf(m.c_str(), "m%dn%dk%d", &p.m, &p.n, &p.k) == 3) words.take(m);
    if (!words.take("row") || !words.take("col")) return std::nullopt;
    p.saturates = words.take("satfinite");
    const auto logic = words.take_one_of({"and", "xor"});
    if (logic.has_value() != words.take("popc")) return std::nullopt;
    p.conjunction = logic == "and";
    words.take("rn");
    const auto d = words.take_type(), a = words.take_type(), b = words.take_type(), c = words.take_type();
    if (!d || !a || !b || !c || *c != *d || !words.empty() || in.operands.size() != 4) return std::nullopt;
    p.a = *a;
    p.b = *b;
    p.c = *c;
    if (!has_shape(p) || (p.a == Type::b1) != logic.has_value()) return std::nullopt;
    return p;
}

// A fragment: of each lane some registers, of each register some elements.
struct Place {
    int row, column;
};
struct Fragment {
    char role;  // a, b, c
    int m, n, k;
    int bits;
    int per_register() const { return bits >= 32 ? 1 : 32 / bits; }
    int registers() const {
        return (role == 'a' ? m * k : role == 'b' ? k * n : m * n) / 32 / per_register();
    }
    Place place(int lane, int r, int e) const {
        const int g = lane / 4, t = lane % 4, each = per_register();
        if (role == 'a') {
            const int halves = m / 8;  // rows g and g + 8
            return {g + 8 * (r % halves), t * each + e + 4 * each * (r / halves)};
        }
        if (role == 'b') return {t * each + e + 4 * each * r, g};
        const int i = r * each + e;
        return {g + 8 * (i / 2), 2 * t + i % 2};
    }
};

// An element of a product: exact = significand * 2^(exponent - fraction), its significand below 4^... of no
// fixed size; the exponent is that of the encoding, which is what terms are aligned by.
struct Encoding {
    int fraction, exponent_bits;
    bool has_infinity;
    int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
Encoding encoding_of(Type type) {
    switch (type) {
        case Type::bf16:
            return {7, 8, true};
        case Type::tf32:
            return {10, 8, true};
        case Type::f32:
            return {23, 8, true};
        case Type::e4m3:
            return {3, 4, false};
        case Type::e5m2:
            return {2, 5, true};
        default:
            return {10, 5, true};
    }
}
struct Term {
    __int128 significand = 0;
    int exponent = -126;  // of a zero
    int fraction = 0;
    enum class Special { none, positive, negative, nan } special = Special::none;
};
Term term_of(std::uint64_t bits, const Encoding& f) {
    Term term;
    term.fraction = f.fraction;
    const std::uint64_t ones = (1u << f.exponent_bits) - 1;
    const std::uint64_t field = (bits >> f.fraction) & ones, rest = truncated(bits, f.fraction);
    const bool negative = ((bits >> (f.fraction + f.exponent_bits)) & 1) != 0;
    if (f.has_infinity && field == ones)
        term.special = rest       ? Term::Special::nan
                       : negative ? Term::Special::negative
                                  : Term::Special::positive;
    if (!f.has_infinity && field == ones && rest == truncated(~std::uint64_t{0}, f.fraction))
        term.special = Term::Special::nan;
    term.significand = static_cast<__int128>(field ? rest | std::uint64_t{1} << f.fraction : rest);
    if (term.significand != 0) term.exponent = static_cast<int>(std::max<std::uint64_t>(field, 1)) - f.bias();
    if (negative) term.significand = -term.significand;
    return term;
}
Term product_of(const Term& x, const Term& y) {
    using enum Term::Special;
    Term p;
    p.significand = x.significand * y.significand;
    p.exponent = x.exponent + y.exponent;
    p.fraction = x.fraction + y.fraction;
    if (x.special == nan || y.special == nan) {
        p.special = nan;
    } else if (x.special != none || y.special != none) {
        const auto sign = [](const Term& t) {
            return t.special == negative   ? -1
                   : t.special == positive ? 1
                   : t.significand < 0     ? -1
                                           : t.significand > 0;
        };
        p.special = sign(x) * sign(y) == 0 ? nan : sign(x) * sign(y) < 0 ? negative : positive;
    }
    return p;
}

// The sum of the terms, rounded to the result's format.
std::uint64_t added(const std::vector<Term>& terms, int kept, bool half, int result_fraction) {
    bool nan = false, up = false, down = false;
    int top = terms.front().exponent;
    for (const Term& t : terms) {
        nan |= t.special == Term::Special::nan;
        up |= t.special == Term::Special::positive;
        down |= t.special == Term::Special::negative;
        top = std::max(top, t.exponent);
    }
    const Format format = half ? kHalf : kSingle;
    if (nan || (up && down)) return canonical_nan(format);
    if (up || down) return encode({Kind::infinite, down, 0, 0, false}, format, Rounding::zero);
    __int128 sum = 0;
    for (const Term& t : terms) {
        __int128 magnitude = t.significand < 0 ? -t.significand : t.significand;
        const int drop = top - t.exponent - (kept - t.fraction);
        magnitude = drop <= 0 ? magnitude << -drop : drop > 100 ? 0 : magnitude >> drop;
        sum += t.significand < 0 ? -magnitude : magnitude;
    }
    if (sum == 0) return 0;
    Number n;
    n.kind = Kind::finite;
    n.negative = sum < 0;
    n.significand = static_cast<unsigned __int128>(n.negative ? -sum : sum);
    n.exponent = top - kept;
    if (half) return encode(n, kHalf, Rounding::nearest_even);
    const Format cut{result_fraction + 1, -126, 127, 9 + result_fraction};
    std::uint64_t bits = encode(n, cut, Rounding::zero) << (23 - result_fraction);
    Number limit = from_integer(1, false);
    limit.exponent = 128;
    Number magnitude = n;
    magnitude.negative = false;
    if (compare(magnitude, limit) >= 0)  // too large: an infinity, though other results are cut
        bits = (n.negative ? sign_bit(kSingle) : 0) | 0x7f800000u;
    return (bits & ~sign_bit(kSingle)) == 0 ? 0 : bits;
}

struct Steps {
    int terms, kept, result_fraction;
};
// By the architecture ("sm_90" is 90): how many products a step takes, and how many bits it keeps.
Steps steps_of(const Product& p, int architecture) {
    const bool eight = p.a == Type::e4m3 || p.a == Type::e5m2;
    Steps s{p.k, architecture < 75 ? 23 : architecture < 90 ? 24 : 25, 23};
    if (architecture == 89 && eight) s.kept = s.result_fraction = 13;
    const int longest = eight ? 32 : p.a == Type::tf32 ? 8 : 16;
    if (architecture >= 80 && architecture < 90 && p.k == longest) s.terms = p.k / 2;
    if (architecture < 80) s.terms = std::min(p.k, architecture < 75 ? 4 : 8);
    return s;
}

std::uint64_t element_of_product(const Product& p, const Steps& steps, const std::vector<std::uint64_t>& a,
                                 const std::vector<std::uint64_t>& b, std::uint64_t c) {
    if (p.a == Type::f64) {
        std::uint64_t sum = c;
        for (std::size_t i = 0; i < a.size(); ++i)
            sum = encode(add(multiply(decode(a[i], kDouble), decode(b[i], kDouble)), decode(sum, kDouble),
                             Rounding::nearest_even),
                         kDouble, Rounding::nearest_even);
        return sum;
    }
    if (p.c == Type::s32) {
        __int128 sum = static_cast<std::int64_t>(sign_extended(c, 32));
        const auto value = [](std::uint64_t x, Type type) {
            const bool negatives = type == Type::s8 || type == Type::s4;
            return static_cast<std::int64_t>(negatives ? sign_extended(x, element_bits(type)) : x);
        };
        for (std::size_t i = 0; i < a.size(); ++i)
            sum += p.a == Type::b1 ? static_cast<std::int64_t>(p.conjunction ? a[i] & b[i] : a[i] ^ b[i])
                                   : value(a[i], p.a) * value(b[i], p.b);
        if (p.saturates) sum = std::clamp<__int128>(sum, -(__int128{1} << 31), (__int128{1} << 31) - 1);
        return truncated(static_cast<std::uint64_t>(sum), 32);
    }
    std::uint64_t sum = c;
    for (std::size_t first = 0; first < a.size(); first += static_cast<std::size_t>(steps.terms)) {
        std::vector<Term> terms = {term_of(sum, encoding_of(p.c))};
        for (std::size_t i = first; i < std::min(a.size(), first + static_cast<std::size_t>(steps.terms));
             ++i)
            terms.push_back(product_of(term_of(a[i], encoding_of(p.a)), term_of(b[i], encoding_of(p.b))));
        sum = added(terms, steps.kept, p.c == Type::f16, steps.result_fraction);
    }
    return sum;
}

}  // namespace

bool is_matrix_instruction(const ptx::Instruction& in) {
    return in.opcode == "mma" || in.opcode == "ldmatrix" || in.opcode == "stmatrix" ||
           in.opcode == "movmatrix";
}

// False: not known.
bool Machine::matrix(Warp& w, Group& g, const ptx::Instruction& in, LaneMask lanes) {
    if (in.opcode == "mma") return matrix_product(w, g, in, lanes);
    Words words(in);
    if (!words.take("sync")) return false;
    words.take("aligned");
    const auto count = words.take_one_of({"x1", "x2", "x4"});
    const bool transposed = words.take("trans"), moves = in.opcode == "movmatrix",
               stores = in.opcode == "stmatrix";
    const auto space = words.take_one_of({"shared", "shared::cta"});
    if (!words.take("m8n8") || !words.take("b16") || !words.empty() || in.operands.size() != 2) return false;
    // Row i of matrix j is given by lane 8 j + i; element pair p of it goes to lane 4 i + p.
    if (moves) {
        if (count || space || !transposed || !readable(g, in.operands[1], Type::b32) ||
            !writable(in.operands[0], Type::b32))
            return false;
        std::array<Value, kWarpSize> from;
        int origin = 0;
        bool undefined = false;
        for (int lane = 0; lane < kWarpSize; ++lane) {
            const Value v = from[static_cast<std::size_t>(lane)] =
                read(w, g, lane, in.operands[1], Type::b32);
            if (v.undefined && ((lanes >> lane) & 1) && !undefined) origin = origin_for(w, in, v, lane);
            undefined |= v.undefined != 0 && ((lanes >> lane) & 1);
        }
        const auto element = [&](int row, int column) {
            return truncated(
                from.at(4 * static_cast<std::size_t>(row) + static_cast<std::size_t>(column / 2)).bits >>
                    (16 * (column % 2)),
                16);
        };
        each_lane(lanes, [&](int lane) {
            const int row = lane / 4, column = 2 * (lane % 4);
            Value v;
            v.bits = element(column, row) | element(column + 1, row) << 16;
            v.undefined = undefined ? ~std::uint64_t{0} : 0;
            v.origin = origin;
            write(w, g, lane, in.operands[0], v);
        });
        return true;
    }
    const ptx::Operand &place = in.operands[stores ? 0 : 1], &data = in.operands[stores ? 1 : 0];
    const auto* address = std::get_if<ptx::Address>(&place.value);
    if (!count || !space || !address || !address->coordinates.empty() || !can_address(g, *address))
        return false;
    const int matrices = (*count)[1] - '0';
    const auto* vector = std::get_if<ptx::Vector>(&data.value);
    if (vector ? vector->elements.size() != static_cast<std::size_t>(matrices) : matrices != 1) return false;
    for (int j = 0; j < matrices; ++j) {
        const ptx::Operand e = specification::element_of(data, static_cast<unsigned>(j));
        if (stores ? !readable(g, e, Type::b32) : !writable(e, Type::b32)) return false;
    }
    use_address(w, g, in, *address, lanes);
    if (stores) {
        store_matrices(w, g, in, lanes, matrices, transposed);
        return true;
    }
    MemoryForm form;
    form.load = true;
    form.element_bytes = 16;
    std::vector<LaneAccess> rows;
    std::vector<std::array<Byte, 16>> bytes;
    for (int lane = 0; lane < 8 * matrices && !stopped_; ++lane) {
        rows.push_back({lane, effective_address(g, lane, *address, true)});
        if (!check_addresses(w, g, in, form, {rows.back()}, ptx::Space::shared)) return true;
        if (options_.check_races) record(w, g, in, form, {rows.back()}, ptx::Space::shared);
        bytes.emplace_back();
        for (std::size_t b = 0; b < 16; ++b)
            bytes.back()[b] = load_byte(w, lane, ptx::Space::shared, rows.back().address + b);
    }
    if (stopped_) return true;
    count_access(w, in, form, rows, ptx::Space::shared);
    for (int j = 0; j < matrices; ++j) {
        each_lane(lanes, [&](int lane) {
            const int row = lane / 4, column = 2 * (lane % 4);
            Value v;
            bool undefined = false;
            for (int half = 0; half < 2; ++half) {
                const int from = transposed ? column + half : row, at = transposed ? row : column + half;
                const auto& line = bytes[8 * static_cast<std::size_t>(j) + static_cast<std::size_t>(from)];
                for (int b = 0; b < 2; ++b)
                    v.bits |=
                        std::uint64_t{
                            line.at(2 * static_cast<std::size_t>(at) + static_cast<std::size_t>(b)).value}
                        << (16 * half + 8 * b);
                // A row is defined as a whole, or not.
                for (const Byte& byte : line) undefined |= !byte.written;
            }
            if (undefined) {
                v.undefined = ~std::uint64_t{0};
                v.origin =
                    new_origin(w, in, lane, "uninitialised-read", "reads memory that nothing has written");
            }
            write(w, g, lane, specification::element_of(data, static_cast<unsigned>(j)), v);
        });
    }
    return true;
}

// The lane's row is put together from the registers of the four or eight lanes that hold its elements.
void Machine::store_matrices(Warp& w, Group& g, const ptx::Instruction& in, LaneMask lanes, int matrices,
                             bool transposed) {
    const auto& address = std::get<ptx::Address>(in.operands[0].value);
    MemoryForm form;
    form.store = true;
    form.element_bytes = 16;
    std::vector<LaneAccess> rows;
    for (int lane = 0; lane < 8 * matrices; ++lane) {
        if (!((lanes >> lane) & 1)) continue;
        const ptx::Operand from = specification::element_of(in.operands[1], static_cast<unsigned>(lane / 8));
        int origin = 0;  // of the register: that of the lowest lane with anything undefined in it
        for (int l = 0; l < kWarpSize && origin == 0; ++l)
            if (const Value v = read(w, g, l, from, Type::b32); v.undefined && ((lanes >> l) & 1))
                origin = origin_for(w, in, v, l);
        std::vector<std::uint8_t> bytes;
        std::vector<bool> defined;
        for (int at = 0; at < 8; ++at) {
            const int row = transposed ? at : lane % 8, column = transposed ? lane % 8 : at;
            const int holder = 4 * row + column / 2;
            const Value v = read(w, g, holder, from, Type::b32);
            const int shift = 16 * (column % 2);
            for (int b = 0; b < 2; ++b) {
                bytes.push_back(static_cast<std::uint8_t>(v.bits >> (shift + 8 * b)));
                defined.push_back(!((lanes >> holder) & 1) || !truncated(v.undefined >> shift, 16));
            }
        }
        rows.push_back({lane, effective_address(g, lane, address, true)});
        if (!check_addresses(w, g, in, form, {rows.back()}, ptx::Space::shared)) return;
        block_->changes += 1;
        if (options_.check_races) record(w, g, in, form, {rows.back()}, ptx::Space::shared, &bytes);
        for (std::size_t b = 0; b < bytes.size(); ++b) {
            Byte byte;
            byte.value = bytes[b];
            byte.written = defined[b];
            byte.origin = defined[b] ? 0 : origin;
            store_byte(w, lane, ptx::Space::shared, rows.back().address + b, byte);
        }
        if (stopped_) return;
    }
    count_access(w, in, form, rows, ptx::Space::shared);
}

bool Machine::matrix_product(Warp& w, Group& g, const ptx::Instruction& in, LaneMask lanes) {
    const auto product = product_of(in);
    if (!product) return false;
    const Product& p = *product;
    const Fragment fragments[4] = {{'c', p.m, p.n, p.k, element_bits(p.c)},
                                   {'a', p.m, p.n, p.k, element_bits(p.a)},
                                   {'b', p.m, p.n, p.k, element_bits(p.b)},
                                   {'c', p.m, p.n, p.k, element_bits(p.c)}};
    const Type word = p.a == Type::f64 ? Type::f64 : Type::b32;
    for (std::size_t i = 0; i < 4; ++i) {
        const auto* vector = std::get_if<ptx::Vector>(&in.operands[i].value);
        const int n = vector ? static_cast<int>(vector->elements.size()) : 1;
        if (n != fragments[i].registers()) return false;
        for (int r = 0; r < n; ++r) {
            const ptx::Operand e = specification::element_of(in.operands[i], static_cast<unsigned>(r));
            const Type type = i == 3 && p.c == Type::f32 ? Type::f32 : word;
            if (i == 0 ? !writable(e, type) : !readable(g, e, type)) return false;
        }
    }
    // The matrices, element by element; an undefined one of A makes a row undefined, of B a column.
    std::vector<std::vector<std::uint64_t>> a(static_cast<std::size_t>(p.m)),
        b(static_cast<std::size_t>(p.n)), c(static_cast<std::size_t>(p.m));
    for (auto& row : a) row.resize(static_cast<std::size_t>(p.k));
    for (auto& column : b) column.resize(static_cast<std::size_t>(p.k));
    for (auto& row : c) row.resize(static_cast<std::size_t>(p.n));
    std::set<int> bad_rows, bad_columns;
    std::set<std::pair<int, int>> bad;
    int origin = 0;
    for (std::size_t i = 1; i < 4; ++i) {
        const Fragment& f = fragments[i];
        for (int r = 0; r < f.registers(); ++r) {
            const ptx::Operand operand = specification::element_of(in.operands[i], static_cast<unsigned>(r));
            bool first = true;
            for (int lane = 0; lane < kWarpSize; ++lane) {
                const Value v = read(w, g, lane, operand, i == 3 && p.c == Type::f32 ? Type::f32 : word);
                const bool takes_part = ((lanes >> lane) & 1) != 0;
                if (v.undefined && takes_part && first) {
                    origin = origin_for(w, in, v, lane);
                    first = false;
                }
                for (int e = 0; e < f.per_register(); ++e) {
                    const Place at = f.place(lane, r, e);
                    const auto row = static_cast<std::size_t>(at.row),
                               column = static_cast<std::size_t>(at.column);
                    const std::uint64_t bits = truncated(v.bits >> (f.bits * e % 64), f.bits);
                    (f.role == 'a' ? a[row][column] : f.role == 'b' ? b[column][row] : c[row][column]) = bits;
                    if (!takes_part || !truncated(v.undefined >> (f.bits * e % 64), f.bits)) continue;
                    if (f.role == 'a') bad_rows.insert(at.row);
                    if (f.role == 'b') bad_columns.insert(at.column);
                    if (f.role == 'c') bad.insert({at.row, at.column});
                }
            }
        }
    }
    if (p.a == Type::tf32)  // the low 13 bits are not read
        for (auto* matrix : {&a, &b})
            for (auto& line : *matrix)
                for (std::uint64_t& x : line) x >>= 13;
    const std::uint64_t operations = std::uint64_t{2} * static_cast<std::uint64_t>(p.m * p.n * p.k);
    outcome_.counters.tensor_flops += operations;
    line(in).tensor_flops += operations;
    const bool eight = p.a == Type::e4m3 || p.a == Type::e5m2, to_half = p.c == Type::f16;
    Counters& k = outcome_.counters;
    (p.a == Type::f16                     ? (to_half ? k.tensor_fp16_fp16 : k.tensor_fp16_fp32)
     : eight                              ? (to_half ? k.tensor_fp8_fp16 : k.tensor_fp8_fp32)
     : p.a == Type::bf16                  ? k.tensor_bf16_fp32
     : p.a == Type::tf32                  ? k.tensor_tf32_fp32
     : p.a == Type::f64                   ? k.tensor_fp64
     : p.a == Type::b1                    ? k.tensor_int1
     : p.a == Type::s4 || p.a == Type::u4 ? k.tensor_int4
                                          : k.tensor_int8) += operations;
    const Steps steps = steps_of(p, module_.target.size() > 3 ? std::atoi(module_.target.c_str() + 3) : 80);
    const Fragment& d = fragments[0];
    for (int r = 0; r < d.registers(); ++r)
        each_lane(lanes, [&](int lane) {
            Value v;
            for (int e = 0; e < d.per_register(); ++e) {
                const Place at = d.place(lane, r, e);
                const auto row = static_cast<std::size_t>(at.row),
                           column = static_cast<std::size_t>(at.column);
                v.bits |= element_of_product(p, steps, a[row], b[column], c[row][column])
                          << (d.bits * e % 64);
                if (bad_rows.contains(at.row) || bad_columns.contains(at.column) ||
                    bad.contains({at.row, at.column}))
                    v.undefined = ~std::uint64_t{0};
            }
            if (v.undefined) v.origin = origin;
            write(w, g, lane, specification::element_of(in.operands[0], static_cast<unsigned>(r)), v);
        });
    return true;
}

}  // namespace emulator::specification
