// The .approx functions. A GPU's own tables are not public; PTX documents error bounds. These are computed
// in double with additions and multiplications alone and rounded once (sine and cosine twice: see there), so
// they are inside every documented bound and the same bits come out on every host. tanh, whose documented
// error is thousands of roundings of an f32, gets an error of that size: a kernel that cannot bear it must
// show here too.
#include <algorithm>
#include <cmath>
#include <limits>

#include "emulator/src/exec/lanes.h"
#include "emulator/src/exec/scalar.h"
#include "emulator/src/exec/tables.h"
#include "emulator/src/exec/tolerance.h"

namespace emulator::exec {
namespace EMULATOR_ISA {
namespace {

template <class F>
void approx1(Warp& w, const Instr& in, Mask exec, F f) {
    const u32* a = narrow(w, in.source(0));
    const bool ftz = in.has(flag::ftz);
    alignas(64) u32 r[kLanes];
    for (int i = 0; i < kLanes; ++i) {
        const u32 bits = ftz ? flush(a[i]) : a[i];
        r[i] = canonical(as_bits(static_cast<float>(f(static_cast<double>(as_float(bits))))));
    }
    if (ftz)
        for (int i = 0; i < kLanes; ++i) r[i] = flush(r[i]);
    put(narrow(w, in.destination(0)), r, exec);
}

// Any other approximation than the nominal one: exact(x) moved within error(x, y). True: it was one.
template <class F, class E>
bool moved1(Warp& w, const Instr& in, Mask exec, F exact, E error) {
    if (approximation_of(w) == Approximation::nominal) return false;
    const u32* a = narrow(w, in.source(0));
    const bool ftz = in.has(flag::ftz);
    alignas(64) u32 r[kLanes] = {};
    for_lanes(exec, [&](int i) {
        const u32 bits = ftz ? flush(a[i]) : a[i];
        const double x = as_float(bits), y = exact(x);
        const auto plain = static_cast<float>(y);  // where it under- or overflows it stays
        const bool fixed = plain == 0 || !std::isfinite(plain) || (bits & 0x7f800000u) == 0;
        const u32 v = canonical(fixed ? as_bits(plain) : within(w, y, error(x, y), bits, round_to_single));
        r[i] = ftz ? flush(v) : v;
    });
    put(narrow(w, in.destination(0)), r, exec);
    return true;
}
constexpr auto kTwoUlps = [](double, double y) { return 2 * ulp32(y); };

void ex2(Warp& w, const Instr& in, Mask exec) {
    if (moved1(w, in, exec, exp2_of, kTwoUlps)) return;
    approx1(w, in, exec, [](double x) { return exp2_of(x); });
}
void lg2(Warp& w, const Instr& in, Mask exec) {
    const auto error = [](double x, double y) { return x > 0.5 && x < 2 ? 0x1p-22 : std::fabs(y) * 0x1p-22; };
    if (moved1(w, in, exec, log2_of, error)) return;
    approx1(w, in, exec, [](double x) { return log2_of(x); });
}
// A GPU's sine takes turns: the argument is first multiplied by 1 / (2 pi) in single precision, rounding
// towards zero (FMUL.RZ before MUFU.SIN). Within [-2 pi, 2 pi] that is inside the documented 2^-20.5; for
// larger arguments the error grows with them, and so it must here.
double reduced_by_turns(double x) {
    constexpr float per_radian = 0.15915493667F;
    const double exact = x * static_cast<double>(per_radian);  // 24 + 24 bits: not rounded
    auto turns = static_cast<float>(exact);
    if (std::fabs(static_cast<double>(turns)) > std::fabs(exact)) turns = std::nextafter(turns, 0.0F);
    return static_cast<double>(turns) * 6.283185307179586;
}

// Past 100 pi nothing is documented: as nominal, with no error beyond.
double sine_argument(double x) { return std::fabs(x) > 314.159265 ? reduced_by_turns(x) : x; }
double sine_error(double x, double) {
    constexpr double near = 6.7434957617430459e-07, far = 3.7571300200e-05;  // 2^-20.5, 2^-14.7
    const double size = std::fabs(x);
    return size <= 6.2831853 ? near : size <= 314.159265 ? far : 0;
}
void sin_(Warp& w, const Instr& in, Mask exec) {
    const auto exact = [](double x) { return sine_of(sine_argument(x), 0); };
    if (moved1(w, in, exec, exact, sine_error)) return;
    approx1(w, in, exec, [](double x) { return sine_of(reduced_by_turns(x), 0); });
}
void cos_(Warp& w, const Instr& in, Mask exec) {
    const auto exact = [](double x) { return sine_of(sine_argument(x), 1); };
    if (moved1(w, in, exec, exact, sine_error)) return;
    approx1(w, in, exec, [](double x) { return sine_of(reduced_by_turns(x), 1); });
}
void tanh_(Warp& w, const Instr& in, Mask exec) {
    // Never past 1, where every argument's own hyperbolic tangent ends.
    const auto error = [](double, double y) { return std::min(std::fabs(y) * 0x1p-11, 1 - std::fabs(y)); };
    if (moved1(w, in, exec, tanh_of, error)) return;
    // 2^-11, less what rounding the result takes of it.
    approx1(w, in, exec, [](double x) {
        const u32 bits = as_bits(static_cast<float>(x)) & 0x7fffffffu;
        return coarse_tanh(tanh_of(x), bits, 0x1p-11 * (1 - 0x1p-12));
    });
}
void rcp(Warp& w, const Instr& in, Mask exec) {
    const auto exact = [](double x) { return 1.0 / x; };
    if (moved1(w, in, exec, exact, [](double, double y) { return ulp32(y); })) return;
    approx1(w, in, exec, [](double x) { return 1.0 / x; });
}
void rsqrt(Warp& w, const Instr& in, Mask exec) {
    const auto exact = [](double x) { return 1.0 / __builtin_sqrt(x); };
    const auto error = [](double, double y) { return y * 1.2776e-07; };  // 2^-22.9
    if (moved1(w, in, exec, exact, error)) return;
    approx1(w, in, exec, [](double x) { return 1.0 / __builtin_sqrt(x); });
}
void sqrt_(Warp& w, const Instr& in, Mask exec) {
    const auto exact = [](double x) { return __builtin_sqrt(x); };
    if (moved1(w, in, exec, exact, [](double, double y) { return y * 0x1p-23; })) return;
    approx1(w, in, exec, [](double x) { return __builtin_sqrt(x); });
}

// div.approx is a * (1/b): for |b| above 2^126 the reciprocal is flushed. div.full (sub 1) is scaled.
void div(Warp& w, const Instr& in, Mask exec) {
    const u32 *a = narrow(w, in.source(0)), *b = narrow(w, in.source(1));
    const bool ftz = in.has(flag::ftz), full = in.sub == 1;
    const bool moves = approximation_of(w) != Approximation::nominal;
    alignas(64) u32 r[kLanes];
    for (int i = 0; i < kLanes; ++i) {
        const u32 x = ftz ? flush(a[i]) : a[i], y = ftz ? flush(b[i]) : b[i];
        const u32 magnitude = y & 0x7fffffffu;
        const double quotient = static_cast<double>(as_float(x)) / static_cast<double>(as_float(y));
        u32 v = as_bits(static_cast<float>(quotient));
        if (moves && (v & 0x7fffffffu) != 0 && (v & 0x7f800000u) != 0x7f800000u)
            v = within(w, quotient, 2 * ulp32(quotient), x ^ y * 31, round_to_single);
        const bool huge = !full && magnitude > 0x7e800000u && magnitude < 0x7f800000u;
        const bool infinite = (x & 0x7fffffffu) == 0x7f800000u;
        const bool nan = (x & 0x7fffffffu) > 0x7f800000u;
        v = huge ? (infinite || nan ? kNan32 : (x ^ y) & 0x80000000u) : v;
        v = canonical(v);
        r[i] = ftz ? flush(v) : v;
    }
    put(narrow(w, in.destination(0)), r, exec);
}

// rsqrt.approx.f64, which is accurate: 1/sqrt(x) with the error of its two roundings taken out again.
void rsqrt64(Warp& w, const Instr& in, Mask exec) {
    const u64* a = wide(w, in.source(0));
    u64* d = wide(w, in.destination(0));
    for_lanes(exec, [&](int i) {
        const double x = as_double(a[i]);
        double y = 1.0 / __builtin_sqrt(x);
        if (x > 0 && y > 0 && y < std::numeric_limits<double>::infinity()) {
            const double scaled = x * y;  // 1/y, and what its rounding lost
            const double lost = __builtin_fma(x, y, -scaled);
            const double error = __builtin_fma(-scaled, y, 1.0) - lost * y;  // 1 - x y^2
            y = __builtin_fma(y * 0.5, error, y);
        }
        d[i] = y != y ? 0x7fffffff00000000ull : as_bits(y);
    });
}

// The .ftz.f64 forms give 20 bits for Newton iterations to start from; the low word is zero.
template <bool root>
void approx64(Warp& w, const Instr& in, Mask exec) {
    const u64* a = wide(w, in.source(0));
    u64* d = wide(w, in.destination(0));
    for_lanes(exec, [&](int i) {
        u64 bits = a[i];
        if ((bits & 0x7ff0000000000000ull) == 0) bits &= 0x8000000000000000ull;
        const double x = as_double(bits);
        const double y = root ? 1.0 / __builtin_sqrt(x) : 1.0 / x;
        u64 r = as_bits(y);
        if (y != y)
            r = 0x7fffffff00000000ull;
        else if ((r & 0x7ff0000000000000ull) == 0)
            r &= 0x8000000000000000ull;
        d[i] = r & 0xffffffff00000000ull;
    });
}

const HandlerEntry entries[] = {
    {"ex2.approx.f32", ex2},
    {"lg2.approx.f32", lg2},
    {"sin.approx.f32", sin_},
    {"cos.approx.f32", cos_},
    {"tanh.approx.f32", tanh_},
    {"rcp.approx.f32", rcp},
    {"rsqrt.approx.f32", rsqrt},
    {"sqrt.approx.f32", sqrt_},
    {"div.approx.f32", div},
    {"rcp.approx.f64", approx64<false>},
    {"rsqrt.approx.f64", approx64<true>},
    {"rsqrt.f64", rsqrt64},
};

}  // namespace

HandlerTable approximate_handlers() { return {entries, sizeof(entries) / sizeof(entries[0])}; }

}  // namespace EMULATOR_ISA
}  // namespace emulator::exec
