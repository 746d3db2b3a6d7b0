// Integer and logic instructions.
#include "emulator/src/exec/lanes.h"
#include "emulator/src/exec/tables.h"

namespace emulator::exec {
namespace EMULATOR_ISA {
namespace {

using u128 = unsigned __int128;
using s128 = __int128;

template <class T>
constexpr int kBits = 8 * sizeof(T);
template <class T>
using Unsigned = std::make_unsigned_t<T>;
template <class T>
using Double =
    std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, s32, u32>,
                       std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, s64, u64>,
                                          std::conditional_t<std::is_signed_v<T>, s128, u128>>>;

#define BINARY(NAME, EXPRESSION)                                                              \
    template <class T>                                                                        \
    void NAME(Warp& w, const Instr& in, Mask exec) {                                          \
        map2<T, T, T>(w, in, exec, [](T a, T b) -> T { return static_cast<T>(EXPRESSION); }); \
    }
#define UNARY(NAME, EXPRESSION)                                                       \
    template <class T>                                                                \
    void NAME(Warp& w, const Instr& in, Mask exec) {                                  \
        map1<T, T>(w, in, exec, [](T a) -> T { return static_cast<T>(EXPRESSION); }); \
    }

BINARY(add, Unsigned<T>(a) + Unsigned<T>(b))
BINARY(sub, Unsigned<T>(a) - Unsigned<T>(b))
BINARY(mul_lo, Cell<T>(a) * Cell<T>(b))
BINARY(mul_hi, (Double<T>(a) * Double<T>(b)) >> kBits<T>)
BINARY(min, a < b ? a : b)
BINARY(max, a > b ? a : b)
BINARY(and_, a& b)
BINARY(or_, a | b)
BINARY(xor_, a ^ b)
UNARY(not_, ~a)
UNARY(cnot, a == 0 ? 1 : 0)
UNARY(neg, Unsigned<T>(0) - Unsigned<T>(a))
UNARY(abs, a < 0 ? Unsigned<T>(0) - Unsigned<T>(a) : Unsigned<T>(a))

s32 saturate(s64 v) {
    return static_cast<s32>(v > 2147483647 ? 2147483647 : v < -2147483648ll ? -2147483648ll : v);
}
void add_sat(Warp& w, const Instr& in, Mask exec) {
    map2<s32, s32, s32>(w, in, exec, [](s32 a, s32 b) { return saturate(s64{a} + b); });
}
void sub_sat(Warp& w, const Instr& in, Mask exec) {
    map2<s32, s32, s32>(w, in, exec, [](s32 a, s32 b) { return saturate(s64{a} - b); });
}

// a / b for b other than 0 (and, signed, -1). Through doubles, which vectorise: for 32-bit integers the
// nearest double to the exact quotient lies on the same side of every integer.
template <class T>
inline T quotient(T a, T b) {
    if constexpr (std::is_same_v<T, s32>) {
        return static_cast<s32>(static_cast<double>(a) / static_cast<double>(b));
#ifdef __SSE4_1__  // floor
    } else if constexpr (std::is_same_v<T, u32>) {
        constexpr double offset = 2147483648.0;  // conversions of signed integers are what there is
        const auto wide = [](u32 v) {
            return static_cast<double>(static_cast<s32>(v ^ 0x80000000u)) + offset;
        };
        return static_cast<u32>(static_cast<s32>(std::floor(wide(a) / wide(b)) - offset)) ^ 0x80000000u;
#endif
    } else {
        return static_cast<T>(a / b);
    }
}
// What hardware gives for a zero divisor is unspecified; all ones is what current parts return.
template <class T>
void div(Warp& w, const Instr& in, Mask exec) {
    map2<T, T, T>(w, in, exec, [](T a, T b) -> T {
        const bool minus_one = std::is_signed_v<T> && b == static_cast<T>(-1);
        const T q = quotient<T>(a, b == 0 || minus_one ? T{1} : b);
        const T negated = static_cast<T>(Unsigned<T>(0) - Unsigned<T>(a));
        return b == 0 ? static_cast<T>(~T{0}) : minus_one ? negated : q;
    });
}
template <class T>
void rem(Warp& w, const Instr& in, Mask exec) {
    map2<T, T, T>(w, in, exec, [](T a, T b) -> T {
        const bool minus_one = std::is_signed_v<T> && b == static_cast<T>(-1);
        const T divisor = b == 0 || minus_one ? T{1} : b;
        const T r = static_cast<T>(Cell<T>(a) - Cell<T>(quotient<T>(a, divisor)) * Cell<T>(divisor));
        return b == 0 ? a : minus_one ? T{0} : r;
    });
}

template <class T>
void mul_wide(Warp& w, const Instr& in, Mask exec) {
    map2<Double<T>, T, T>(w, in, exec,
                          [](T a, T b) { return static_cast<Double<T>>(Double<T>(a) * Double<T>(b)); });
}
template <class T>
void mad_lo(Warp& w, const Instr& in, Mask exec) {
    map3<T, T, T, T>(w, in, exec,
                     [](T a, T b, T c) { return static_cast<T>(Cell<T>(a) * Cell<T>(b) + Cell<T>(c)); });
}
template <class T>
void mad_hi(Warp& w, const Instr& in, Mask exec) {
    map3<T, T, T, T>(w, in, exec, [](T a, T b, T c) {
        return static_cast<T>(Unsigned<T>(static_cast<T>((Double<T>(a) * Double<T>(b)) >> kBits<T>)) +
                              Unsigned<T>(c));
    });
}
void mad_hi_sat(Warp& w, const Instr& in, Mask exec) {
    map3<s32, s32, s32, s32>(w, in, exec,
                             [](s32 a, s32 b, s32 c) { return saturate(((s64{a} * b) >> 32) + c); });
}
template <class T>
void mad_wide(Warp& w, const Instr& in, Mask exec) {
    using D = Double<T>;
    map3<D, T, T, D>(w, in, exec, [](T a, T b, D c) {
        return static_cast<D>(static_cast<Unsigned<D>>(D(a) * D(b)) + static_cast<Unsigned<D>>(c));
    });
}

// mul24: the low 24 bits of each operand; .lo the low 32 bits of the product, .hi bits 16 to 47.
template <class T>
Double<T> product24(T a, T b) {
    if constexpr (std::is_signed_v<T>)
        return (s64{static_cast<s32>(u32(a) << 8)} >> 8) * (s64{static_cast<s32>(u32(b) << 8)} >> 8);
    else
        return u64{a & 0xffffffu} * u64{b & 0xffffffu};
}
template <class T>
void mul24_lo(Warp& w, const Instr& in, Mask exec) {
    map2<T, T, T>(w, in, exec, [](T a, T b) { return static_cast<T>(product24(a, b)); });
}
template <class T>
void mul24_hi(Warp& w, const Instr& in, Mask exec) {
    map2<T, T, T>(w, in, exec, [](T a, T b) { return static_cast<T>(product24(a, b) >> 16); });
}
template <class T>
void mad24_lo(Warp& w, const Instr& in, Mask exec) {
    map3<T, T, T, T>(w, in, exec,
                     [](T a, T b, T c) { return static_cast<T>(u32(product24(a, b)) + u32(c)); });
}
template <class T>
void mad24_hi(Warp& w, const Instr& in, Mask exec) {
    map3<T, T, T, T>(w, in, exec,
                     [](T a, T b, T c) { return static_cast<T>(u32(product24(a, b) >> 16) + u32(c)); });
}

void mad24_hi_sat(Warp& w, const Instr& in, Mask exec) {
    map3<s32, s32, s32, s32>(w, in, exec,
                             [](s32 a, s32 b, s32 c) { return saturate((product24(a, b) >> 16) + c); });
}

// Extended precision: destinations d and the carry flag, sources a, b, (c,) and the carry flag.
template <class T>
void add_carry(Warp& w, const Instr& in, Mask exec) {
    using U = Unsigned<T>;
    const Mask carry = in.has(flag::carry_in) ? predicate(w, in.source(2)) : 0;
    auto *d = lanes<T>(w, in.destination(0)), *a = lanes<T>(w, in.source(0)), *b = lanes<T>(w, in.source(1));
    Mask out = 0;
    for_lanes(exec, [&](int i) {
        const u128 sum = u128{U(a[i])} + U(b[i]) + ((carry >> i) & 1u);
        d[i] = static_cast<U>(sum);
        out |= static_cast<Mask>((sum >> kBits<T>) != 0) << i;
    });
    if (in.has(flag::carry_out)) set_predicate(w, in.destination(1), exec, out);
}
template <class T>
void sub_carry(Warp& w, const Instr& in, Mask exec) {
    using U = Unsigned<T>;
    const Mask borrow = in.has(flag::carry_in) ? predicate(w, in.source(2)) : 0;
    auto *d = lanes<T>(w, in.destination(0)), *a = lanes<T>(w, in.source(0)), *b = lanes<T>(w, in.source(1));
    Mask out = 0;
    for_lanes(exec, [&](int i) {
        const u128 difference = u128{U(a[i])} - U(b[i]) - ((borrow >> i) & 1u);
        d[i] = static_cast<U>(difference);
        out |= static_cast<Mask>((difference >> kBits<T>) != 0) << i;
    });
    if (in.has(flag::carry_out)) set_predicate(w, in.destination(1), exec, out);
}
template <class T, bool hi>
void mad_carry(Warp& w, const Instr& in, Mask exec) {
    using U = Unsigned<T>;
    const Mask carry = in.has(flag::carry_in) ? predicate(w, in.source(3)) : 0;
    auto *d = lanes<T>(w, in.destination(0)), *a = lanes<T>(w, in.source(0)), *b = lanes<T>(w, in.source(1)),
         *c = lanes<T>(w, in.source(2));
    Mask out = 0;
    for_lanes(exec, [&](int i) {
        const Double<T> product = Double<T>(value_of<T>(a[i])) * Double<T>(value_of<T>(b[i]));
        const U part = static_cast<U>(hi ? product >> kBits<T> : product);
        const u128 sum = u128{part} + U(c[i]) + ((carry >> i) & 1u);
        d[i] = static_cast<U>(sum);
        out |= static_cast<Mask>((sum >> kBits<T>) != 0) << i;
    });
    if (in.has(flag::carry_out)) set_predicate(w, in.destination(1), exec, out);
}

// Shift amounts above the width are clamped to it.
template <class T>
void shl(Warp& w, const Instr& in, Mask exec) {
    map2<T, T, u32>(w, in, exec, [](T a, u32 n) {
        const Cell<T> v = static_cast<Cell<T>>(a) << (n & (kBits<Cell<T>> - 1));
        return static_cast<T>(n >= kBits<T> ? 0 : v);
    });
}
template <class T>
void shr(Warp& w, const Instr& in, Mask exec) {
    map2<T, T, u32>(w, in, exec, [](T a, u32 n) {
        if constexpr (std::is_signed_v<T>)
            return static_cast<T>(a >> (n >= kBits<T> ? kBits<T> - 1 : n));
        else
            return static_cast<T>(n >= kBits<T> ? 0 : Cell<T>(a) >> (n & (kBits<Cell<T>> - 1)));
    });
}
// Funnel shift of b:a; sub bit 0: right, bit 1: wrap instead of clamp.
void shf(Warp& w, const Instr& in, Mask exec) {
    const bool right = in.sub & 1, wrap = in.sub & 2;
    map3<u32, u32, u32, u32>(w, in, exec, [=](u32 a, u32 b, u32 c) {
        const u32 n = wrap ? c & 31 : (c > 32 ? 32 : c);
        const u64 pair = u64{b} << 32 | a;
        return right ? static_cast<u32>(pair >> n) : static_cast<u32>((pair << n) >> 32);
    });
}

u32 permute(u32 a, u32 b, u32 c) {
    const u64 pair = u64{b} << 32 | a;
    u32 r = 0;
    for (int i = 0; i < 4; ++i) {
        const u32 selector = (c >> (4 * i)) & 0xf;
        u32 byte = static_cast<u32>(pair >> (8 * (selector & 7))) & 0xff;
        if (selector & 8) byte = (byte & 0x80) ? 0xff : 0;
        r |= byte << (8 * i);
    }
    return r;
}
// sub: 0 default, then f4e b4e rc8 ecl ecr rc16
void prmt(Warp& w, const Instr& in, Mask exec) {
    const int mode = in.sub;
    map3<u32, u32, u32, u32>(w, in, exec, [=](u32 a, u32 b, u32 c) {
        const u32 n = c & 3;
        switch (mode) {
            case 1: {
                static const u32 table[4] = {0x3210, 0x4321, 0x5432, 0x6543};
                return permute(a, b, table[n]);
            }
            case 2: {
                static const u32 table[4] = {0x5670, 0x6701, 0x7012, 0x0123};
                return permute(a, b, table[n]);
            }
            case 3: {
                static const u32 table[4] = {0x0000, 0x1111, 0x2222, 0x3333};
                return permute(a, b, table[n]);
            }
            case 4: {
                static const u32 table[4] = {0x3210, 0x3211, 0x3222, 0x3333};
                return permute(a, b, table[n]);
            }
            case 5: {
                static const u32 table[4] = {0x0000, 0x1110, 0x2210, 0x3210};
                return permute(a, b, table[n]);
            }
            case 6: {
                static const u32 table[4] = {0x1010, 0x3232, 0x1010, 0x3232};
                return permute(a, b, table[n]);
            }
            default:
                return permute(a, b, c);
        }
    });
}
void lop3(Warp& w, const Instr& in, Mask exec) {
    const u32 table = static_cast<u32>(in.imm);
    u32 term[8];
    for (int k = 0; k < 8; ++k) term[k] = (table >> k) & 1 ? ~0u : 0;
    const auto combine = [&](u32 a, u32 b, u32 c) {
        return (term[0] & ~a & ~b & ~c) | (term[1] & ~a & ~b & c) | (term[2] & ~a & b & ~c) |
               (term[3] & ~a & b & c) | (term[4] & a & ~b & ~c) | (term[5] & a & ~b & c) |
               (term[6] & a & b & ~c) | (term[7] & a & b & c);
    };
    if (in.sub != 0) {  // 1 or, 2 and: the word is not zero, combined with the last source
        const u32 *a = narrow(w, in.source(0)), *b = narrow(w, in.source(1)), *c = narrow(w, in.source(2));
        Mask any = 0;
        for_lanes(exec, [&](int i) { any |= static_cast<Mask>(combine(a[i], b[i], c[i]) != 0) << i; });
        const Mask q = mask_of(w, in.source(3));
        map3<u32, u32, u32, u32>(w, in, exec, combine);
        set_predicate(w, in.destination(1), exec, in.sub == 1 ? any | q : any & q);
        return;
    }
    map3<u32, u32, u32, u32>(w, in, exec, combine);
}
// The n-th set bit of a mask, counted from `base` upwards or, when n is negative, downwards.
void fns(Warp& w, const Instr& in, Mask exec) {
    map3<u32, u32, u32, s32>(w, in, exec, [](u32 mask, u32 base, s32 n) -> u32 {
        if (base >= 32) return ~0u;
        if (n == 0) return (mask >> base) & 1 ? base : ~0u;
        s64 left = n > 0 ? s64{n} : -s64{n};
        for (s64 at = base; at >= 0 && at<32; at += n> 0 ? 1 : -1) {
            left -= (mask >> at) & 1;
            if (left == 0) return static_cast<u32>(at);
        }
        return ~0u;
    });
}
template <class T>
void bfe(Warp& w, const Instr& in, Mask exec) {
    map3<T, T, u32, u32>(w, in, exec, [](T a, u32 position, u32 length) -> T {
        const int msb = kBits<T> - 1;
        const u32 pos = position & 0xff, len = length & 0xff;
        using U = Unsigned<T>;
        const U sign_bit_at = static_cast<U>(pos + len == 0             ? 0
                                             : pos + len - 1 < u32(msb) ? pos + len - 1
                                                                        : u32(msb));
        U sign = 0;
        if constexpr (std::is_signed_v<T>)
            if (len != 0) sign = (U(a) >> sign_bit_at) & 1;
        const U shifted = pos > u32(msb) ? 0 : U(a) >> pos;
        if (len > u32(msb) && pos == 0) return a;
        const u32 available = pos > u32(msb) ? 0 : u32(msb) + 1 - pos;
        const u32 taken = len < available ? len : available;
        const U low = taken > u32(msb) ? ~U{0} : (U{1} << taken) - 1;
        return static_cast<T>((shifted & low) | (sign ? ~low : 0));
    });
}
template <class T>  // a inserted into b at c, d bits
void bfi(Warp& w, const Instr& in, Mask exec) {
    auto *d = lanes<T>(w, in.destination(0)), *a = lanes<T>(w, in.source(0)), *b = lanes<T>(w, in.source(1));
    const u32 *c = narrow(w, in.source(2)), *n = narrow(w, in.source(3));
    for_lanes(exec, [&](int i) {
        const u32 pos = c[i] & 0xff, len = n[i] & 0xff;
        if (pos >= kBits<T> || len == 0) {
            d[i] = b[i];
            return;
        }
        const T low = len >= kBits<T> ? ~T{0} : static_cast<T>((T{1} << len) - 1);
        const T mask = static_cast<T>(low << pos);
        d[i] = (b[i] & ~mask) | ((a[i] << pos) & mask);
    });
}
template <class T, bool shift_amount>
void bfind(Warp& w, const Instr& in, Mask exec) {
    map1<u32, T>(w, in, exec, [](T a) -> u32 {
        Unsigned<T> v = static_cast<Unsigned<T>>(a);
        if constexpr (std::is_signed_v<T>)
            if (a < 0) v = ~v;
        if (v == 0) return ~0u;
        const u32 at = kBits<T> - 1 - std::countl_zero(v);
        return shift_amount ? kBits<T> - 1 - at : at;
    });
}
void bmsk(Warp& w, const Instr& in, Mask exec) {  // sub 1: wrap
    const bool wrap = in.sub == 1;
    map2<u32, u32, u32>(w, in, exec, [=](u32 a, u32 b) -> u32 {
        if (wrap) {
            a &= 31;
            b &= 31;
        }
        if (a >= 32 || b == 0) return 0;
        const u32 low = b >= 32 ? ~0u : (1u << b) - 1;
        return low << a;
    });
}
template <class T>
void szext(Warp& w, const Instr& in, Mask exec) {
    const bool wrap = in.sub == 1;
    map2<T, T, u32>(w, in, exec, [=](T a, u32 n) -> T {
        if (wrap) n &= 31;
        if (n == 0) return 0;
        if (n >= 32) return a;
        if constexpr (std::is_signed_v<T>) return static_cast<T>(u32(a) << (32 - n)) >> (32 - n);
        return static_cast<T>(u32(a) & ((1u << n) - 1));
    });
}
template <class T>
void brev(Warp& w, const Instr& in, Mask exec) {
    map1<T, T>(w, in, exec, [](T a) {
        T r = 0;
        for (int i = 0; i < kBits<T>; ++i) r |= ((a >> i) & 1) << (kBits<T> - 1 - i);
        return r;
    });
}
template <class T>
void clz(Warp& w, const Instr& in, Mask exec) {
    map1<u32, T>(w, in, exec, [](T a) { return static_cast<u32>(std::countl_zero(a)); });
}
template <class T>
void popc(Warp& w, const Instr& in, Mask exec) {
    map1<u32, T>(w, in, exec, [](T a) { return static_cast<u32>(std::popcount(a)); });
}
template <class T>
void sad(Warp& w, const Instr& in, Mask exec) {
    using U = Unsigned<T>;
    map3<T, T, T, T>(w, in, exec, [](T a, T b, T c) {
        return static_cast<T>(U(c) + (a < b ? U(U(b) - U(a)) : U(U(a) - U(b))));
    });
}
template <class A, class B>
void dp4a(Warp& w, const Instr& in, Mask exec) {
    map3<u32, u32, u32, u32>(w, in, exec, [](u32 a, u32 b, u32 c) {
        for (int i = 0; i < 4; ++i)
            c += static_cast<u32>(s32(static_cast<A>(a >> (8 * i))) * s32(static_cast<B>(b >> (8 * i))));
        return c;
    });
}
template <class A, class B, bool hi>
void dp2a(Warp& w, const Instr& in, Mask exec) {
    using A16 = std::conditional_t<std::is_signed_v<A>, s16, u16>;
    map3<u32, u32, u32, u32>(w, in, exec, [](u32 a, u32 b, u32 c) {
        for (int i = 0; i < 2; ++i)
            c += static_cast<u32>(s32(static_cast<A16>(a >> (16 * i))) *
                                  s32(static_cast<B>(b >> (8 * i + (hi ? 16 : 0)))));
        return c;
    });
}
template <class T, bool maximum>
void minmax_relu(Warp& w, const Instr& in, Mask exec) {
    map2<T, T, T>(w, in, exec, [](T a, T b) {
        const T r = maximum ? (a > b ? a : b) : (a < b ? a : b);
        return r < 0 ? T{0} : r;
    });
}
template <class T, int op>  // halves: 0 add, 1 min, 2 max
void halves(Warp& w, const Instr& in, Mask exec) {
    const bool relu = in.has(flag::relu);
    map2<u32, u32, u32>(w, in, exec, [=](u32 a, u32 b) {
        u32 r = 0;
        for (int i = 0; i < 2; ++i) {
            const T x = static_cast<T>(a >> (16 * i)), y = static_cast<T>(b >> (16 * i));
            T v = op == 0 ? static_cast<T>(u32(x) + u32(y)) : op == 1 ? (x < y ? x : y) : (x > y ? x : y);
            if (relu && std::is_signed_v<T> && v < T{0}) v = 0;
            r |= u32{static_cast<u16>(v)} << (16 * i);
        }
        return r;
    });
}

// ---- predicates ----
template <int op>
void logic_pred(Warp& w, const Instr& in, Mask exec) {
    const Mask a = mask_of(w, in.source(0)), b = mask_of(w, in.source(1));
    set_predicate(w, in.destination(0), exec, op == 0 ? a & b : op == 1 ? a | b : a ^ b);
}
void not_pred(Warp& w, const Instr& in, Mask exec) {
    set_predicate(w, in.destination(0), exec, ~mask_of(w, in.source(0)));
}

// ---- comparison ----
template <class T, class F>
Mask compare_lanes(Warp& w, const Instr& in, F f) {
    const Cell<T>* a = lanes<T>(w, in.source(0));
    const Cell<T>* b = lanes<T>(w, in.source(1));
    alignas(64) u32 r[kLanes];
    for (int i = 0; i < kLanes; ++i) r[i] = f(value_of<T>(a[i]), value_of<T>(b[i])) ? ~0u : 0u;
    return pack_mask(r);
}
// sub: 0 eq 1 ne 2 lt 3 le 4 gt 5 ge
template <class T>
void setp(Warp& w, const Instr& in, Mask exec) {
    Mask m = 0;
    switch (in.sub) {
        case 0:
            m = compare_lanes<T>(w, in, [](T a, T b) { return a == b; });
            break;
        case 1:
            m = compare_lanes<T>(w, in, [](T a, T b) { return a != b; });
            break;
        case 2:
            m = compare_lanes<T>(w, in, [](T a, T b) { return a < b; });
            break;
        case 3:
            m = compare_lanes<T>(w, in, [](T a, T b) { return a <= b; });
            break;
        case 4:
            m = compare_lanes<T>(w, in, [](T a, T b) { return a > b; });
            break;
        default:
            m = compare_lanes<T>(w, in, [](T a, T b) { return a >= b; });
            break;
    }
    finish_compare(w, in, exec, m);
}

#define ALL(NAME, FN)                                                                               \
    {NAME ".u16", FN<u16>}, {NAME ".s16", FN<s16>}, {NAME ".u32", FN<u32>}, {NAME ".s32", FN<s32>}, \
        {NAME ".u64", FN<u64>}, {                                                                   \
        NAME ".s64", FN<s64>                                                                        \
    }
#define UNSIGNED(NAME, FN) \
    {NAME ".b16", FN<u16>}, {NAME ".b32", FN<u32>}, { NAME ".b64", FN<u64> }
#define SIGNED(NAME, FN) \
    {NAME ".s16", FN<s16>}, {NAME ".s32", FN<s32>}, { NAME ".s64", FN<s64> }
#define ONLY32(NAME, FN) \
    {NAME ".u32", FN<u32>}, { NAME ".s32", FN<s32> }
#define WIDER(NAME, FN) \
    {NAME ".u32", FN<u32>}, {NAME ".s32", FN<s32>}, {NAME ".u64", FN<u64>}, { NAME ".s64", FN<s64> }

const HandlerEntry entries[] = {
    UNSIGNED("add", add),
    UNSIGNED("sub", sub),
    UNSIGNED("mul.lo", mul_lo),
    UNSIGNED("mad.lo", mad_lo),
    ALL("mul.hi", mul_hi),
    ALL("mad.hi", mad_hi),
    {"mad.hi.sat.s32", mad_hi_sat},
    {"mul.wide.u16", mul_wide<u16>},
    {"mul.wide.s16", mul_wide<s16>},
    ONLY32("mul.wide", mul_wide),
    {"mad.wide.u16", mad_wide<u16>},
    {"mad.wide.s16", mad_wide<s16>},
    ONLY32("mad.wide", mad_wide),
    {"add.sat.s32", add_sat},
    {"sub.sat.s32", sub_sat},
    ALL("div", div),
    ALL("rem", rem),
    ALL("min", min),
    ALL("max", max),
    SIGNED("abs", abs),
    SIGNED("neg", neg),
    {"min.relu.s32", minmax_relu<s32, false>},
    {"max.relu.s32", minmax_relu<s32, true>},
    {"add.u16x2", halves<u16, 0>},
    {"add.s16x2", halves<s16, 0>},
    {"min.u16x2", halves<u16, 1>},
    {"min.s16x2", halves<s16, 1>},
    {"max.u16x2", halves<u16, 2>},
    {"max.s16x2", halves<s16, 2>},
    ONLY32("mul24.lo", mul24_lo),
    ONLY32("mul24.hi", mul24_hi),
    ONLY32("mad24.lo", mad24_lo),
    ONLY32("mad24.hi", mad24_hi),
    {"mad24.hi.sat.s32", mad24_hi_sat},
    {"addc.b32", add_carry<u32>},
    {"addc.b64", add_carry<u64>},
    {"subc.b32", sub_carry<u32>},
    {"subc.b64", sub_carry<u64>},
    {"madc.lo.u32", mad_carry<u32, false>},
    {"madc.lo.s32", mad_carry<s32, false>},
    {"madc.hi.u32", mad_carry<u32, true>},
    {"madc.hi.s32", mad_carry<s32, true>},
    {"madc.lo.u64", mad_carry<u64, false>},
    {"madc.lo.s64", mad_carry<s64, false>},
    {"madc.hi.u64", mad_carry<u64, true>},
    {"madc.hi.s64", mad_carry<s64, true>},
    UNSIGNED("and", and_),
    UNSIGNED("or", or_),
    UNSIGNED("xor", xor_),
    UNSIGNED("not", not_),
    UNSIGNED("cnot", cnot),
    UNSIGNED("shl", shl),
    ALL("shr", shr),
    {"shf", shf},
    {"prmt", prmt},
    {"lop3", lop3},
    {"fns", fns},
    WIDER("bfe", bfe),
    {"bfi.b32", bfi<u32>},
    {"bfi.b64", bfi<u64>},
    {"bfind.u32", bfind<u32, false>},
    {"bfind.s32", bfind<s32, false>},
    {"bfind.u64", bfind<u64, false>},
    {"bfind.s64", bfind<s64, false>},
    {"bfind.shiftamt.u32", bfind<u32, true>},
    {"bfind.shiftamt.s32", bfind<s32, true>},
    {"bfind.shiftamt.u64", bfind<u64, true>},
    {"bfind.shiftamt.s64", bfind<s64, true>},
    {"bmsk", bmsk},
    ONLY32("szext", szext),
    {"brev.b32", brev<u32>},
    {"brev.b64", brev<u64>},
    {"clz.b32", clz<u32>},
    {"clz.b64", clz<u64>},
    {"popc.b32", popc<u32>},
    {"popc.b64", popc<u64>},
    ALL("sad", sad),
    {"dp4a.u32.u32", dp4a<u8, u8>},
    {"dp4a.s32.s32", dp4a<s8, s8>},
    {"dp4a.u32.s32", dp4a<u8, s8>},
    {"dp4a.s32.u32", dp4a<s8, u8>},
    {"dp2a.lo.u32.u32", dp2a<u8, u8, false>},
    {"dp2a.lo.s32.s32", dp2a<s8, s8, false>},
    {"dp2a.lo.u32.s32", dp2a<u8, s8, false>},
    {"dp2a.lo.s32.u32", dp2a<s8, u8, false>},
    {"dp2a.hi.u32.u32", dp2a<u8, u8, true>},
    {"dp2a.hi.s32.s32", dp2a<s8, s8, true>},
    {"dp2a.hi.u32.s32", dp2a<u8, s8, true>},
    {"dp2a.hi.s32.u32", dp2a<s8, u8, true>},
    {"and.pred", logic_pred<0>},
    {"or.pred", logic_pred<1>},
    {"xor.pred", logic_pred<2>},
    {"not.pred", not_pred},
    ALL("setp", setp),
};

}  // namespace

HandlerTable integer_handlers() { return {entries, sizeof(entries) / sizeof(entries[0])}; }

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec
