// f32 and f64 arithmetic. IEEE operations are the host's own (SSE, FMA), with PTX's extras around them:
// rounding modes through MXCSR, .ftz and .sat explicitly, and the one NaN that f32 instructions produce.
#include "emulator/src/exec/lanes.h"
#include "emulator/src/exec/rounding.h"
#include "emulator/src/exec/scalar.h"
#include "emulator/src/exec/tables.h"

namespace emulator::exec {
namespace EMULATOR_ISA {
namespace {

// Keeps the loop between two changes of the rounding mode.
inline void pin(void* data) { asm volatile("" : : "r"(data) : "memory"); }

inline u32 saturate32(u32 bits) {  // [0, 1], NaN gives 0
    const float v = as_float(bits);
    return as_bits(v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f);
}
inline u64 saturate64(u64 bits) {
    const double v = as_double(bits);
    return as_bits(v > 0.0 ? (v < 1.0 ? v : 1.0) : 0.0);
}

// f takes floats, gives a float. raw: the result is not made canonical (abs, neg of a NaN are).
template <int N, class F>
inline void values32(const Instr& in, const u32* const (&s)[N], u32* r, F f) {
    if (!in.has(flag::ftz | flag::sat) && in.rounding == 0) {
#pragma GCC ivdep  // r may be one of s, at the same lane only
        for (int i = 0; i < kLanes; ++i) {
            if constexpr (N == 1) r[i] = canonical(as_bits(f(as_float(s[0][i]))));
            if constexpr (N == 2) r[i] = canonical(as_bits(f(as_float(s[0][i]), as_float(s[1][i]))));
            if constexpr (N == 3)
                r[i] = canonical(as_bits(f(as_float(s[0][i]), as_float(s[1][i]), as_float(s[2][i]))));
        }
        return;
    }
    alignas(64) u32 t[N][kLanes];
    const bool ftz = in.has(flag::ftz);
    for (int k = 0; k < N; ++k)
        for (int i = 0; i < kLanes; ++i) t[k][i] = ftz ? flush(s[k][i]) : s[k][i];
    const auto loop = [&] {
        for (int i = 0; i < kLanes; ++i) {
            if constexpr (N == 1) r[i] = as_bits(f(as_float(t[0][i])));
            if constexpr (N == 2) r[i] = as_bits(f(as_float(t[0][i]), as_float(t[1][i])));
            if constexpr (N == 3) r[i] = as_bits(f(as_float(t[0][i]), as_float(t[1][i]), as_float(t[2][i])));
        }
    };
    if (in.rounding == 0) {
        loop();
    } else {
        const RoundScope scope(in.rounding);
        pin(t);
        loop();
        pin(r);
    }
    if (ftz)
        for (int i = 0; i < kLanes; ++i) r[i] = flush(r[i]);
    if (in.has(flag::sat))
        for (int i = 0; i < kLanes; ++i) r[i] = saturate32(r[i]);
    else
        for (int i = 0; i < kLanes; ++i) r[i] = canonical(r[i]);
}
template <int N, class F>
inline void map32(Warp& w, const Instr& in, Mask exec, F f) {
    const u32* s[N];
    for (int k = 0; k < N; ++k) s[k] = narrow(w, in.source(k));
    alignas(64) u32 some[kLanes];
    u32* const r = exec == kAllLanes ? narrow(w, in.destination(0)) : some;
    values32<N>(in, s, r, f);
    if (r == some) put(narrow(w, in.destination(0)), some, exec);
}
// Two f32 in each 64-bit register.
template <int N, class F>
inline void map32x2(Warp& w, const Instr& in, Mask exec, F f) {
    alignas(64) u32 half[N][kLanes], r[2][kLanes];
    const u32* s[N];
    for (int e = 0; e < 2; ++e) {
        for (int k = 0; k < N; ++k) {
            const u64* from = wide(w, in.source(k));
            for (int i = 0; i < kLanes; ++i) half[k][i] = static_cast<u32>(from[i] >> (32 * e));
            s[k] = half[k];
        }
        values32<N>(in, s, r[e], f);
    }
    u64* d = wide(w, in.destination(0));
    for_lanes(exec, [&](int i) { d[i] = u64{r[1][i]} << 32 | r[0][i]; });
}
// All sources but the last are f16 or bf16 (sub 1) and are widened first.
template <int N, class F>
inline void map_mixed(Warp& w, const Instr& in, Mask exec, F f) {
    alignas(64) u32 widened[N][kLanes], r[kLanes];
    const u32* s[N];
    for (int k = 0; k < N; ++k) {
        s[k] = narrow(w, in.source(k));
        if (k == N - 1) continue;
        for (int i = 0; i < kLanes; ++i)
            widened[k][i] = as_bits(in.sub == 1 ? bf16_to_float(s[k][i]) : half_to_float(s[k][i] & 0xffffu));
        s[k] = widened[k];
    }
    values32<N>(in, s, r, f);
    put(narrow(w, in.destination(0)), r, exec);
}

// arithmetic: a NaN of the result is one of the operands'.
template <int N, bool arithmetic = true, class F>
inline void map64(Warp& w, const Instr& in, Mask exec, F f) {
    const u64* s[N];
    for (int k = 0; k < N; ++k) s[k] = wide(w, in.source(k));
    alignas(64) u64 r[kLanes];
    const auto loop = [&] {
        for (int i = 0; i < kLanes; ++i) {
            if constexpr (N == 1) r[i] = as_bits(f(as_double(s[0][i])));
            if constexpr (N == 2) r[i] = as_bits(f(as_double(s[0][i]), as_double(s[1][i])));
            if constexpr (N == 3)
                r[i] = as_bits(f(as_double(s[0][i]), as_double(s[1][i]), as_double(s[2][i])));
        }
    };
    if (in.rounding == 0) {
        loop();
    } else {
        const RoundScope scope(in.rounding);
        pin(r);
        loop();
        pin(r);
    }
    if constexpr (arithmetic)
        for (int i = 0; i < kLanes; ++i) {
            if constexpr (N == 1) r[i] = nan_of_operands(r[i], s[0][i]);
            if constexpr (N == 2) r[i] = nan_of_operands(r[i], s[0][i], s[1][i]);
            if constexpr (N == 3) r[i] = nan_of_operands(r[i], s[0][i], s[1][i], s[2][i]);
        }
    if (in.has(flag::sat))
        for (int i = 0; i < kLanes; ++i) r[i] = saturate64(r[i]);
    put(wide(w, in.destination(0)), r, exec);
}

#define PAIR(NAME, N, PARAMETERS32, PARAMETERS64, EXPRESSION)          \
    void NAME##32(Warp & w, const Instr& in, Mask exec) {              \
        map32<N>(w, in, exec, [] PARAMETERS32 { return EXPRESSION; }); \
    }                                                                  \
    void NAME##64(Warp & w, const Instr& in, Mask exec) {              \
        map64<N>(w, in, exec, [] PARAMETERS64 { return EXPRESSION; }); \
    }

#define PACKED_AND_MIXED(NAME, N, PARAMETERS, EXPRESSION)                \
    void NAME##32x2(Warp & w, const Instr& in, Mask exec) {              \
        map32x2<N>(w, in, exec, [] PARAMETERS { return EXPRESSION; });   \
    }                                                                    \
    void NAME##_mixed(Warp& w, const Instr& in, Mask exec) {             \
        map_mixed<N>(w, in, exec, [] PARAMETERS { return EXPRESSION; }); \
    }

PACKED_AND_MIXED(add, 2, (float a, float b), a + b)
PACKED_AND_MIXED(sub, 2, (float a, float b), a - b)
PACKED_AND_MIXED(fma, 3, (float a, float b, float c), __builtin_fmaf(a, b, c))
void mul32x2(Warp& w, const Instr& in, Mask exec) {
    map32x2<2>(w, in, exec, [](float a, float b) { return a * b; });
}
PAIR(add, 2, (float a, float b), (double a, double b), a + b)
PAIR(sub, 2, (float a, float b), (double a, double b), a - b)
PAIR(mul, 2, (float a, float b), (double a, double b), a* b)
PAIR(div, 2, (float a, float b), (double a, double b), a / b)
void fma32(Warp& w, const Instr& in, Mask exec) {
    map32<3>(w, in, exec, [](float a, float b, float c) { return __builtin_fmaf(a, b, c); });
}
void fma64(Warp& w, const Instr& in, Mask exec) {
    map64<3>(w, in, exec, [](double a, double b, double c) { return __builtin_fma(a, b, c); });
}
void sqrt32(Warp& w, const Instr& in, Mask exec) {
    map32<1>(w, in, exec, [](float a) { return __builtin_sqrtf(a); });
}
void sqrt64(Warp& w, const Instr& in, Mask exec) {
    map64<1>(w, in, exec, [](double a) { return __builtin_sqrt(a); });
}
void rcp32(Warp& w, const Instr& in, Mask exec) {
    map32<1>(w, in, exec, [](float a) { return 1.0f / a; });
}
void rcp64(Warp& w, const Instr& in, Mask exec) {
    map64<1>(w, in, exec, [](double a) { return 1.0 / a; });
}
void abs32(Warp& w, const Instr& in, Mask exec) {
    map32<1>(w, in, exec, [](float a) { return as_float(as_bits(a) & 0x7fffffffu); });
}
void neg32(Warp& w, const Instr& in, Mask exec) {
    map32<1>(w, in, exec, [](float a) { return as_float(as_bits(a) ^ 0x80000000u); });
}
void abs64(Warp& w, const Instr& in, Mask exec) {
    map64<1, false>(w, in, exec, [](double a) { return as_double(as_bits(a) & 0x7fffffffffffffffull); });
}
void neg64(Warp& w, const Instr& in, Mask exec) {
    map64<1, false>(w, in, exec, [](double a) { return as_double(as_bits(a) ^ 0x8000000000000000ull); });
}

// -0 is less than +0; a single NaN loses unless .NaN.
template <bool maximum>
inline u32 minmax_bits(u32 x, u32 y) {
    const float a = as_float(x), b = as_float(y);
    u32 r = maximum ? (a > b ? x : y) : (a < b ? x : y);
    r = a == b ? (maximum ? x & y : x | y) : r;
    r = b != b ? x : r;
    return a != a ? y : r;
}
template <bool maximum>
void minmax32(Warp& w, const Instr& in, Mask exec) {
    if (!in.has(flag::nan_result | flag::xorsign_abs)) {
        map32<2>(w, in, exec,
                 [](float a, float b) { return as_float(minmax_bits<maximum>(as_bits(a), as_bits(b))); });
        return;
    }
    const bool nan = in.has(flag::nan_result), xorsign = in.has(flag::xorsign_abs);
    map32<2>(w, in, exec, [=](float a, float b) {
        u32 x = as_bits(a), y = as_bits(b);
        const u32 sign = (x ^ y) & 0x80000000u;
        if (xorsign) {
            x &= 0x7fffffffu;
            y &= 0x7fffffffu;
        }
        u32 r = minmax_bits<maximum>(x, y);
        if (nan && (a != a || b != b))
            r = kNan32;
        else if (xorsign)
            r |= sign;
        return as_float(r);
    });
}
template <bool maximum>
void minmax3_32(Warp& w, const Instr& in, Mask exec) {
    const bool nan = in.has(flag::nan_result), magnitude = in.has(flag::magnitude);
    map32<3>(w, in, exec, [=](float a, float b, float c) {
        if (magnitude) {
            a = as_float(as_bits(a) & 0x7fffffffu);
            b = as_float(as_bits(b) & 0x7fffffffu);
            c = as_float(as_bits(c) & 0x7fffffffu);
        }
        const u32 r = minmax_bits<maximum>(minmax_bits<maximum>(as_bits(a), as_bits(b)), as_bits(c));
        return as_float(nan && (a != a || b != b || c != c) ? kNan32 : r);
    });
}
template <bool maximum>
void minmax64(Warp& w, const Instr& in, Mask exec) {
    map64<2, false>(w, in, exec, [](double a, double b) {
        const u64 x = as_bits(a), y = as_bits(b);
        u64 r = maximum ? (a > b ? x : y) : (a < b ? x : y);
        r = a == b ? (maximum ? x & y : x | y) : r;
        r = b != b ? x : r;
        r = a != a ? y : r;
        return as_double(a != a && b != b ? 0x7fffffffffffffffull : r);
    });
}

// copysign.f32 d, a, b: the sign of a on b
void copysign32(Warp& w, const Instr& in, Mask exec) {
    map2<u32, u32, u32>(w, in, exec, [](u32 a, u32 b) { return (b & 0x7fffffffu) | (a & 0x80000000u); });
}
void copysign64(Warp& w, const Instr& in, Mask exec) {
    map2<u64, u64, u64>(
        w, in, exec, [](u64 a, u64 b) { return (b & 0x7fffffffffffffffull) | (a & 0x8000000000000000ull); });
}

// sub: finite infinite number notanumber normal subnormal
template <class U, class F>
void testp(Warp& w, const Instr& in, Mask exec) {
    const Cell<U>* a = lanes<U>(w, in.source(0));
    Mask m = 0;
    for_lanes(exec, [&](int i) {
        const int c = std::fpclassify(std::bit_cast<F>(a[i]));
        const bool yes = in.sub == 0   ? c != FP_NAN && c != FP_INFINITE
                         : in.sub == 1 ? c == FP_INFINITE
                         : in.sub == 2 ? c != FP_NAN
                         : in.sub == 3 ? c == FP_NAN
                         : in.sub == 4 ? c == FP_NORMAL
                                       : c == FP_SUBNORMAL;
        m |= static_cast<Mask>(yes) << i;
    });
    set_predicate(w, in.destination(0), exec, m);
}

// sub: eq ne lt le gt ge, the same six unordered (6 ..), num, nan
template <class U, class F>
void setp(Warp& w, const Instr& in, Mask exec) {
    const Cell<U>* s0 = lanes<U>(w, in.source(0));
    const Cell<U>* s1 = lanes<U>(w, in.source(1));
    alignas(64) U flushed[2][kLanes];
    if constexpr (sizeof(U) == 4) {
        if (in.has(flag::ftz)) {
            for (int i = 0; i < kLanes; ++i) {
                flushed[0][i] = flush(s0[i]);
                flushed[1][i] = flush(s1[i]);
            }
            s0 = flushed[0];
            s1 = flushed[1];
        }
    }
    const auto run = [&](auto f) {
        alignas(64) u32 r[kLanes];
        for (int i = 0; i < kLanes; ++i)
            r[i] = f(std::bit_cast<F>(s0[i]), std::bit_cast<F>(s1[i])) ? ~0u : 0u;
        return pack_mask(r);
    };
    Mask m = 0;
    switch (in.sub) {
        case 0:
            m = run([](F a, F b) { return a == b; });
            break;
        case 1:
            m = run([](F a, F b) { return (a < b) | (a > b); });
            break;
        case 2:
            m = run([](F a, F b) { return a < b; });
            break;
        case 3:
            m = run([](F a, F b) { return a <= b; });
            break;
        case 4:
            m = run([](F a, F b) { return a > b; });
            break;
        case 5:
            m = run([](F a, F b) { return a >= b; });
            break;
        case 6:
            m = run([](F a, F b) { return !((a < b) | (a > b)); });
            break;
        case 7:
            m = run([](F a, F b) { return a != b; });
            break;
        case 8:
            m = run([](F a, F b) { return !(a >= b); });
            break;
        case 9:
            m = run([](F a, F b) { return !(a > b); });
            break;
        case 10:
            m = run([](F a, F b) { return !(a <= b); });
            break;
        case 11:
            m = run([](F a, F b) { return !(a < b); });
            break;
        case 12:
            m = run([](F a, F b) { return (a == a) & (b == b); });
            break;
        default:
            m = run([](F a, F b) { return (a != a) | (b != b); });
            break;
    }
    finish_compare(w, in, exec, m);
}

// slct: d = c >= 0 ? a : b; the type of c is u32/s32 or f32 (sub 1)
template <class U>
void slct(Warp& w, const Instr& in, Mask exec) {
    const u32* c = narrow(w, in.source(2));
    auto *a = lanes<U>(w, in.source(0)), *b = lanes<U>(w, in.source(1));
    alignas(64) Cell<U> r[kLanes];
    for (int i = 0; i < kLanes; ++i) {
        const u32 bits = in.has(flag::ftz) ? flush(c[i]) : c[i];
        const bool first = in.sub == 1 ? as_float(bits) >= 0.0f : static_cast<s32>(c[i]) >= 0;
        r[i] = first ? a[i] : b[i];
    }
    put(lanes<U>(w, in.destination(0)), r, exec);
}

const HandlerEntry entries[] = {
    {"add.f32x2", add32x2},
    {"sub.f32x2", sub32x2},
    {"mul.f32x2", mul32x2},
    {"fma.f32x2", fma32x2},
    {"add.mixed", add_mixed},
    {"sub.mixed", sub_mixed},
    {"fma.mixed", fma_mixed},
    {"add.f32", add32},
    {"add.f64", add64},
    {"sub.f32", sub32},
    {"sub.f64", sub64},
    {"mul.f32", mul32},
    {"mul.f64", mul64},
    {"div.f32", div32},
    {"div.f64", div64},
    {"fma.f32", fma32},
    {"fma.f64", fma64},
    {"sqrt.f32", sqrt32},
    {"sqrt.f64", sqrt64},
    {"rcp.f32", rcp32},
    {"rcp.f64", rcp64},
    {"abs.f32", abs32},
    {"abs.f64", abs64},
    {"neg.f32", neg32},
    {"neg.f64", neg64},
    {"min.f32", minmax32<false>},
    {"max.f32", minmax32<true>},
    {"min3.f32", minmax3_32<false>},
    {"max3.f32", minmax3_32<true>},
    {"min.f64", minmax64<false>},
    {"max.f64", minmax64<true>},
    {"copysign.f32", copysign32},
    {"copysign.f64", copysign64},
    {"testp.f32", testp<u32, float>},
    {"testp.f64", testp<u64, double>},
    {"setp.f32", setp<u32, float>},
    {"setp.f64", setp<u64, double>},
    {"slct.b16", slct<u16>},
    {"slct.b32", slct<u32>},
    {"slct.b64", slct<u64>},
};

}  // namespace

void finish_compare(Warp& w, const Instr& in, Mask exec, Mask result) {
    Mask other = ~result;
    if (in.sub2 != 0) {
        const Mask c = mask_of(w, in.source(2));
        result = in.sub2 == 1 ? result & c : in.sub2 == 2 ? result | c : result ^ c;
        other = in.sub2 == 1 ? other & c : in.sub2 == 2 ? other | c : other ^ c;
    }
    if (in.imm != 0) {  // set: the value that stands for true
        u32* d = narrow(w, in.destination(0));
        for_lanes(exec, [&](int i) { d[i] = (result >> i) & 1 ? static_cast<u32>(in.imm) : 0; });
        return;
    }
    set_predicate(w, in.destination(0), exec, result);
    if (in.destinations == 2) set_predicate(w, in.destination(1), exec, other);
}

HandlerTable float_handlers() { return {entries, sizeof(entries) / sizeof(entries[0])}; }

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec
