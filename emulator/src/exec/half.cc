// f16 and bf16 arithmetic, scalar and packed. Sums and products are exact or innocuously rounded in float;
// a fused multiply-add is rounded to odd in double first, so that the second rounding is the only one seen.
#include <algorithm>
#include <cmath>

#include "emulator/src/exec/lanes.h"
#include "emulator/src/exec/scalar.h"
#include "emulator/src/exec/tables.h"
#include "emulator/src/exec/tolerance.h"

namespace emulator::exec {
namespace EMULATOR_ISA {
namespace {

struct F16 {
    static float load(u32 h) { return half_to_float(h); }
    static u32 store(float v) { return float_to_half(v); }
    static u32 store(double v, int rounding = 0) { return double_to_half(v, rounding); }
    static constexpr u32 exponent = 0x7c00, one = 0x3c00;
    // Before the result is rounded, which brings them to the documented 2^-9.9 (relative) of ex2.approx and
    // 2^-10.987 (absolute, at most 1) of tanh.approx.
    static constexpr double ex2_error = 0x1p-11, tanh_error = 0x1p-12;
    static constexpr double ex2_bound = 0.0010466, tanh_bound = 0.00049269;
};
struct BF16 {
    static float load(u32 h) { return bf16_to_float(h); }
    static u32 store(float v) { return float_to_bf16(v); }
    static u32 store(double v, int rounding = 0) { return double_to_bf16(v, rounding); }
    static constexpr u32 exponent = 0x7f80, one = 0x3f80;
    static constexpr double ex2_error = 0x1p-8 * (1 - 0x1p-8), tanh_error = 0x1p-9;  // of 2^-7 and 2^-8
    static constexpr double ex2_bound = 0x1p-7, tanh_bound = 0x1p-8;
};

template <class T>
u32 flush16(u32 h) {
    return (h & T::exponent) == 0 ? h & 0x8000u : h;
}
template <class T>
u32 finish(const Instr& in, u32 h) {
    const bool nan = (h & 0x7fffu) > T::exponent;
    if (in.has(flag::ftz)) h = flush16<T>(h);
    if (in.has(flag::sat)) {
        if (nan || (h & 0x8000u)) return 0;
        return h > T::one ? T::one : h;
    }
    if (nan) return 0x7fff;
    if (in.has(flag::relu) && (h & 0x8000u)) return 0;
    return h;
}

// f(a, b, c) on 16-bit patterns, for one or two elements per lane.
template <class T, int elements, int N, class F>
void map16(Warp& w, const Instr& in, Mask exec, F f) {
    const u32* s[3] = {};
    for (int k = 0; k < N; ++k) s[k] = narrow(w, in.source(k));
    alignas(64) u32 r[kLanes] = {};
    const bool ftz = in.has(flag::ftz);
    for_lanes(exec, [&](int i) {
        u32 v = 0;
        for (int e = 0; e < elements; ++e) {
            u32 x[3] = {};
            for (int k = 0; k < N; ++k) {
                x[k] = (s[k][i] >> (16 * e)) & 0xffffu;
                if (ftz) x[k] = flush16<T>(x[k]);
            }
            v |= finish<T>(in, f(x[0], x[1], x[2])) << (16 * e);
        }
        r[i] = v;
    });
    put(narrow(w, in.destination(0)), r, exec);
}

template <class T>
u32 fused(u32 a, u32 b, u32 c) {
    const double p = static_cast<double>(T::load(a)) * static_cast<double>(T::load(b));
    const double z = T::load(c);
    const double s = p + z;
    if (s - s != 0) return T::store(s);
    const double t = s - p;
    const double error = (p - (s - t)) + (z - t);
    if (error == 0 || (as_bits(s) & 1)) return T::store(s);
    if (s == 0) return T::store(error);
    return T::store(as_double((error > 0) == (s > 0) ? as_bits(s) + 1 : as_bits(s) - 1));
}

template <class T, int n>
void add(Warp& w, const Instr& in, Mask exec) {
    map16<T, n, 2>(w, in, exec, [](u32 a, u32 b, u32) { return T::store(T::load(a) + T::load(b)); });
}
template <class T, int n>
void sub(Warp& w, const Instr& in, Mask exec) {
    map16<T, n, 2>(w, in, exec, [](u32 a, u32 b, u32) { return T::store(T::load(a) - T::load(b)); });
}
template <class T, int n>
void mul(Warp& w, const Instr& in, Mask exec) {
    map16<T, n, 2>(w, in, exec, [](u32 a, u32 b, u32) { return T::store(T::load(a) * T::load(b)); });
}
template <class T, int n>
void fma(Warp& w, const Instr& in, Mask exec) {
    map16<T, n, 3>(w, in, exec, [](u32 a, u32 b, u32 c) { return fused<T>(a, b, c); });
}
template <class T, int n, bool maximum>
void minmax(Warp& w, const Instr& in, Mask exec) {
    const bool nan = in.has(flag::nan_result), xorsign = in.has(flag::xorsign_abs);
    map16<T, n, 2>(w, in, exec, [=](u32 a, u32 b, u32) -> u32 {
        const u32 sign = (a ^ b) & 0x8000u;
        if (xorsign) {
            a &= 0x7fffu;
            b &= 0x7fffu;
        }
        const float x = T::load(a), y = T::load(b);
        u32 r;
        if (x != x || y != y)
            r = nan || (x != x && y != y) ? 0x7fffu : x != x ? b : a;
        else if (x == y)
            r = maximum ? a & b : a | b;
        else
            r = (maximum ? x > y : x < y) ? a : b;
        return xorsign && r != 0x7fffu ? r | sign : r;
    });
}
template <class T, int n>
void neg(Warp& w, const Instr& in, Mask exec) {
    map16<T, n, 1>(w, in, exec, [](u32 a, u32, u32) { return a ^ 0x8000u; });
}
template <class T, int n>
void abs(Warp& w, const Instr& in, Mask exec) {
    map16<T, n, 1>(w, in, exec, [](u32 a, u32, u32) { return a & 0x7fffu; });
}
template <class T, int n>
void ex2(Warp& w, const Instr& in, Mask exec) {
    const bool nominal = approximation_of(w) == Approximation::nominal;
    map16<T, n, 1>(w, in, exec, [&](u32 a, u32, u32) {
        const double y = exp2_of(static_cast<double>(T::load(a)));
        if ((a & 0x7fffu) == 0) return T::store(y);
        if (nominal) return T::store(coarse(y, a, T::ex2_error));
        const u32 plain = T::store(y);
        if (plain == 0 || plain >= T::exponent) return plain;
        return within(w, y, y * T::ex2_bound, a, [](double v, int mode) { return T::store(v, mode); });
    });
}
template <class T, int n>
void tanh_(Warp& w, const Instr& in, Mask exec) {
    const bool nominal = approximation_of(w) == Approximation::nominal;
    map16<T, n, 1>(w, in, exec, [&](u32 a, u32, u32) {
        const double y = tanh_of(static_cast<double>(T::load(a)));
        if (nominal) return T::store(coarse_tanh(y, a & 0x7fffu, T::tanh_error));
        if (y == 0 || !std::isfinite(y)) return T::store(y);
        const double error = std::min(T::tanh_bound, 1 - std::fabs(y));
        return within(w, y, error, a, [](double v, int mode) { return T::store(v, mode); });
    });
}

bool compare(int op, float a, float b) {
    switch (op) {
        case 0:
            return a == b;
        case 1:
            return a < b || a > b;
        case 2:
            return a < b;
        case 3:
            return a <= b;
        case 4:
            return a > b;
        case 5:
            return a >= b;
        case 6:
            return !(a < b || a > b);
        case 7:
            return a != b;
        case 8:
            return !(a >= b);
        case 9:
            return !(a > b);
        case 10:
            return !(a <= b);
        case 11:
            return !(a < b);
        case 12:
            return a == a && b == b;
        default:
            return a != a || b != b;
    }
}
template <class T>
Mask compare_half(Warp& w, const Instr& in, Mask exec, int element) {
    const u32 *a = narrow(w, in.source(0)), *b = narrow(w, in.source(1));
    Mask m = 0;
    for_lanes(exec, [&](int i) {
        u32 x = (a[i] >> (16 * element)) & 0xffffu, y = (b[i] >> (16 * element)) & 0xffffu;
        if (in.has(flag::ftz)) {
            x = flush16<T>(x);
            y = flush16<T>(y);
        }
        m |= static_cast<Mask>(compare(in.sub, T::load(x), T::load(y))) << i;
    });
    return m;
}
template <class T>
void setp(Warp& w, const Instr& in, Mask exec) {
    finish_compare(w, in, exec, compare_half<T>(w, in, exec, 0));
}
template <class T>  // p: low halves, q: high halves
void setp2(Warp& w, const Instr& in, Mask exec) {
    Mask low = compare_half<T>(w, in, exec, 0), high = compare_half<T>(w, in, exec, 1);
    if (in.sub2 != 0) {
        const Mask c = mask_of(w, in.source(2));
        low = in.sub2 == 1 ? low & c : in.sub2 == 2 ? low | c : low ^ c;
        high = in.sub2 == 1 ? high & c : in.sub2 == 2 ? high | c : high ^ c;
    }
    set_predicate(w, in.destination(0), exec, low);
    set_predicate(w, in.destination(1), exec, high);
}
template <class T>  // imm: the 16 bits that stand for true
void set2(Warp& w, const Instr& in, Mask exec) {
    Mask low = compare_half<T>(w, in, exec, 0), high = compare_half<T>(w, in, exec, 1);
    if (in.sub2 != 0) {
        const Mask c = mask_of(w, in.source(2));
        low = in.sub2 == 1 ? low & c : in.sub2 == 2 ? low | c : low ^ c;
        high = in.sub2 == 1 ? high & c : in.sub2 == 2 ? high | c : high ^ c;
    }
    const u32 yes = static_cast<u32>(in.imm);
    u32* d = narrow(w, in.destination(0));
    for_lanes(exec, [&](int i) { d[i] = ((low >> i) & 1 ? yes : 0) | ((high >> i) & 1 ? yes << 16 : 0); });
}

#define BOTH(NAME, FN)                                                                     \
    {NAME ".f16", FN<F16, 1>}, {NAME ".f16x2", FN<F16, 2>}, {NAME ".bf16", FN<BF16, 1>}, { \
        NAME ".bf16x2", FN<BF16, 2>                                                        \
    }

const HandlerEntry entries[] = {
    BOTH("add", add),
    BOTH("sub", sub),
    BOTH("mul", mul),
    BOTH("fma", fma),
    BOTH("neg", neg),
    BOTH("abs", abs),
    BOTH("ex2.approx", ex2),
    BOTH("tanh.approx", tanh_),
    {"min.f16", minmax<F16, 1, false>},
    {"min.f16x2", minmax<F16, 2, false>},
    {"min.bf16", minmax<BF16, 1, false>},
    {"min.bf16x2", minmax<BF16, 2, false>},
    {"max.f16", minmax<F16, 1, true>},
    {"max.f16x2", minmax<F16, 2, true>},
    {"max.bf16", minmax<BF16, 1, true>},
    {"max.bf16x2", minmax<BF16, 2, true>},
    {"setp.f16", setp<F16>},
    {"setp.bf16", setp<BF16>},
    {"setp.f16x2", setp2<F16>},
    {"setp.bf16x2", setp2<BF16>},
    {"set2.f16x2", set2<F16>},
    {"set2.bf16x2", set2<BF16>},
};

}  // namespace

HandlerTable half_handlers() { return {entries, sizeof(entries) / sizeof(entries[0])}; }

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec
