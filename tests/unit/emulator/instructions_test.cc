// Single PTX instructions against the host, on values that are chosen to hurt.
#include <bit>
#include <cfenv>
#include <cmath>
#include <functional>

#include "tests/unit/emulator/machine.h"

namespace emulator::test {
namespace {

// Runs `body` for every triple; it reads %a %b %c (or %ad.. / %p) and writes %d (%dd), 32 or 64 bits wide.
template <class T>
std::vector<T> evaluate(const std::string& body, const std::vector<T>& a, const std::vector<T>& b,
                        const std::vector<T>& c) {
    const bool wide = sizeof(T) == 8;
    const std::string bits = wide ? "64" : "32";
    const std::string ptx =
        ".version 9.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd, .param .u32 "
        "n)\n{\n"
        ".reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<8>; .reg .b16 %h<8>; .reg .f32 %f<8>; .reg .f64 "
        "%fd<8>;\n"
        ".reg .b" +
        bits +
        " %a, %b, %c, %d;\n"
        "ld.param.u64 %rd1, [pa]; ld.param.u64 %rd2, [pb]; ld.param.u64 %rd3, [pc]; ld.param.u64 %rd4, [pd]; "
        "ld.param.u32 %r1, [n];\n"
        "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;\n"
        "setp.ge.u32 %p1, %r5, %r1; @%p1 bra DONE;\n"
        "mul.wide.u32 %rd5, %r5, " +
        std::to_string(sizeof(T)) +
        ";\n"
        "add.s64 %rd1, %rd1, %rd5; add.s64 %rd2, %rd2, %rd5; add.s64 %rd3, %rd3, %rd5; add.s64 %rd4, %rd4, "
        "%rd5;\n"
        "ld.global.b" +
        bits + " %a, [%rd1]; ld.global.b" + bits + " %b, [%rd2]; ld.global.b" + bits + " %c, [%rd3];\n" +
        body + "\nst.global.b" + bits + " [%rd4], %d;\nDONE: ret;\n}\n";
    Machine m;
    EXPECT_TRUE(m.load_ptx(ptx)) << body << ": " << m.error;
    if (!m.module) return {};
    const auto pa = m.input("a", a), pb = m.input("b", b), pc = m.input("c", c),
               pd = m.output<T>("d", a.size());
    const Outcome o = m.run("k", {static_cast<std::uint32_t>(a.size() / 128 + 1)}, {128}, 0, pa, pb, pc, pd,
                            static_cast<std::uint32_t>(a.size()));
    EXPECT_TRUE(o.clean()) << body << ": " << describe(o);
    return m.read<T>(pd, a.size());
}

template <class T>
struct Triples {
    std::vector<T> a, b, c;
};
template <class T>
Triples<T> cross(const std::vector<T>& values, const std::vector<T>& third) {
    Triples<T> t;
    for (const T x : values)
        for (const T y : values)
            for (const T z : third) {
                t.a.push_back(x);
                t.b.push_back(y);
                t.c.push_back(z);
            }
    return t;
}

const std::vector<std::uint32_t> kIntegers = {
    0,       1,          2,          3,          7,          31,         32,
    33,      0x7f,       0x80,       0xff,       0x7fff,     0x8000,     0xffff,
    0x10000, 0x12345678, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff};
const std::vector<std::uint32_t> kFloats = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000,
    0xbf800000, 0x3f800001, 0x3f7fffff, 0x40490fdb, 0x4b000001, 0x7f7fffff, 0xff7fffff,
    0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x33800000, 0x4effffff, 0xcf000001};

using I = std::uint32_t;
using S = std::int32_t;

TEST(Instructions, Integer32) {
    const Triples<I> t = cross<I>(kIntegers, {0, 1, 5, 31, 32, 0x0708, 0xffffffff});
    const std::vector<std::pair<const char*, std::function<I(I, I, I)>>> table = {
        {"add.s32 %d, %a, %b;", [](I a, I b, I) { return a + b; }},
        {"sub.u32 %d, %a, %b;", [](I a, I b, I) { return a - b; }},
        {"add.sat.s32 %d, %a, %b;", [](I a, I b, I) -> I {
             const long long v = static_cast<long long>(S(a)) + S(b);
             return static_cast<I>(v > 2147483647 ? 2147483647 : v < -2147483648LL ? -2147483648LL : v);
         }},
        {"mul.lo.s32 %d, %a, %b;", [](I a, I b, I) { return a * b; }},
        {"mul.hi.s32 %d, %a, %b;", [](I a, I b, I) { return static_cast<I>((static_cast<long long>(S(a)) * S(b)) >> 32); }},
        {"mul.hi.u32 %d, %a, %b;", [](I a, I b, I) { return static_cast<I>((static_cast<unsigned long long>(a) * b) >> 32); }},
        {"mad.lo.s32 %d, %a, %b, %c;", [](I a, I b, I c) { return a * b + c; }},
        {"mul24.lo.s32 %d, %a, %b;", [](I a, I b, I) { return static_cast<I>(static_cast<long long>(S(a << 8) >> 8) * (S(b << 8) >> 8)); }},
        {"min.s32 %d, %a, %b;", [](I a, I b, I) { return static_cast<I>(std::min(S(a), S(b))); }},
        {"max.u32 %d, %a, %b;", [](I a, I b, I) { return std::max(a, b); }},
        {"abs.s32 %d, %a;", [](I a, I, I) { return S(a) < 0 ? 0 - a : a; }},
        {"neg.s32 %d, %a;", [](I a, I, I) { return 0 - a; }},
        {"and.b32 %d, %a, %b;", [](I a, I b, I) { return a & b; }},
        {"xor.b32 %d, %a, %b;", [](I a, I b, I) { return a ^ b; }},
        {"not.b32 %d, %a;", [](I a, I, I) { return ~a; }},
        {"cnot.b32 %d, %a;", [](I a, I, I) { return a == 0 ? 1u : 0u; }},
        {"shl.b32 %d, %a, %c;", [](I a, I, I c) { return c > 31 ? 0 : a << c; }},
        {"shr.u32 %d, %a, %c;", [](I a, I, I c) { return c > 31 ? 0 : a >> c; }},
        {"shr.s32 %d, %a, %c;", [](I a, I, I c) { return static_cast<I>(S(a) >> (c > 31 ? 31 : c)); }},
        {"shf.l.wrap.b32 %d, %a, %b, %c;", [](I a, I b, I c) { c &= 31; return c ? b << c | a >> (32 - c) : b; }},
        {"shf.r.clamp.b32 %d, %a, %b, %c;", [](I a, I b, I c) { c = std::min(c, 32u); return c == 0 ? a : c == 32 ? b : b << (32 - c) | a >> c; }},
        {"lop3.b32 %d, %a, %b, %c, 0x96;", [](I a, I b, I c) { return a ^ b ^ c; }},
        {"lop3.b32 %d, %a, %b, %c, 0xe8;", [](I a, I b, I c) { return (a & b) | (a & c) | (b & c); }},
        {"prmt.b32 %d, %a, %b, 0x5410;", [](I a, I b, I) { return (b << 16) | (a & 0xffff); }},
        {"prmt.b32 %d, %a, %b, 0x0123;", [](I a, I, I) { return __builtin_bswap32(a); }},
        {"prmt.b32 %d, %a, %b, 0xbbbb;", [](I a, I, I) { return (a >> 31) ? ~0u : 0u; }},
        {"bfe.u32 %d, %a, 8, 4;", [](I a, I, I) { return (a >> 8) & 15; }},
        {"bfe.s32 %d, %a, 28, 8;", [](I a, I, I) { return static_cast<I>(S(a) >> 28); }},
        {"bfe.s32 %d, %a, 4, 4;", [](I a, I, I) { return static_cast<I>(S(a << 24) >> 28); }},
        {"bfe.u32 %d, %a, 0, 32;", [](I a, I, I) { return a; }},
        {"bfi.b32 %d, %a, %b, 8, 12;", [](I a, I b, I) { return (b & ~0xfff00u) | ((a & 0xfff) << 8); }},
        {"bfind.u32 %d, %a;", [](I a, I, I) { return a ? 31u - static_cast<I>(std::countl_zero(a)) : ~0u; }},
        {"bfind.s32 %d, %a;", [](I a, I, I) { const I v = S(a) < 0 ? ~a : a; return v ? 31u - static_cast<I>(std::countl_zero(v)) : ~0u; }},
        {"bfind.shiftamt.u32 %d, %a;", [](I a, I, I) { return a ? static_cast<I>(std::countl_zero(a)) : ~0u; }},
        {"bmsk.clamp.b32 %d, 4, 8;", [](I, I, I) { return 0xff0u; }},
        {"brev.b32 %d, %a;", [](I a, I, I) { I r = 0; for (int i = 0; i < 32; ++i) r |= ((a >> i) & 1) << (31 - i); return r; }},
        {"clz.b32 %d, %a;", [](I a, I, I) { return static_cast<I>(std::countl_zero(a)); }},
        {"popc.b32 %d, %a;", [](I a, I, I) { return static_cast<I>(std::popcount(a)); }},
        {"sad.s32 %d, %a, %b, %c;", [](I a, I b, I c) { return c + (S(a) < S(b) ? b - a : a - b); }},
        {"dp4a.s32.s32 %d, %a, %b, %c;", [](I a, I b, I c) { for (int i = 0; i < 32; i += 8) c += static_cast<I>(static_cast<std::int8_t>(a >> i) * static_cast<std::int8_t>(b >> i)); return c; }},
        {"dp4a.u32.s32 %d, %a, %b, %c;", [](I a, I b, I c) { for (int i = 0; i < 32; i += 8) c += static_cast<I>(static_cast<std::uint8_t>(a >> i) * static_cast<std::int8_t>(b >> i)); return c; }},
        {"setp.lt.s32 %p2, %a, %b; selp.b32 %d, %c, %a, %p2;", [](I a, I b, I c) { return S(a) < S(b) ? c : a; }},
        {"setp.hi.u32 %p2|%p3, %a, %b; selp.b32 %d, 1, 2, %p3;", [](I a, I b, I) { return a > b ? 2u : 1u; }},
        {"setp.eq.s32 %p3, %c, 1; setp.ge.and.s32 %p2, %a, %b, !%p3; selp.b32 %d, 1, 0, %p2;", [](I a, I b, I c) { return S(a) >= S(b) && c != 1 ? 1u : 0u; }},
        {"set.le.u32.s32 %d, %a, %b;", [](I a, I b, I) { return S(a) <= S(b) ? ~0u : 0u; }},
        {"slct.s32.s32 %d, %a, %b, %c;", [](I a, I b, I c) { return S(c) >= 0 ? a : b; }},
        {"add.cc.u32 %r10, %a, %b; addc.u32 %d, %c, 0;", [](I a, I b, I c) { return c + (a + b < a ? 1u : 0u); }},
        {"sub.cc.u32 %r10, %a, %b; subc.u32 %d, %c, 0;", [](I a, I b, I c) { return c - (a < b ? 1u : 0u); }},
        {"mad.lo.cc.u32 %r10, %a, %b, %c; madc.hi.u32 %d, %a, %b, 0;", [](I a, I b, I c) {
             return static_cast<I>((static_cast<unsigned long long>(a) * b + c) >> 32);
         }},
        {"mul.wide.s32 %rd10, %a, %b; shr.u64 %rd10, %rd10, 16; cvt.u32.u64 %d, %rd10;", [](I a, I b, I) { return static_cast<I>(static_cast<unsigned long long>(static_cast<long long>(S(a)) * S(b)) >> 16); }},
        {"cvt.u16.u32 %h1, %a; cvt.u16.u32 %h2, %b; mul.wide.u16 %d, %h1, %h2;", [](I a, I b, I) { return (a & 0xffff) * (b & 0xffff); }},
        {"cvt.u16.u32 %h1, %a; shr.s16 %h1, %h1, 3; cvt.u32.u16 %d, %h1;", [](I a, I, I) { return static_cast<I>(static_cast<std::uint16_t>(static_cast<std::int16_t>(a) >> 3)); }},
        {"cvt.s8.s32 %d, %a;", [](I a, I, I) { return static_cast<I>(static_cast<S>(static_cast<std::int8_t>(a))); }},
        {"cvt.sat.s8.s32 %d, %a;", [](I a, I, I) { return static_cast<I>(std::clamp(S(a), -128, 127)); }},
        {"cvt.sat.u16.s32 %d, %a;", [](I a, I, I) { return static_cast<I>(std::clamp(S(a), 0, 65535)); }},
        {"mov.b32 {%h1, %h2}, %a; mov.b32 %d, {%h2, %h1};", [](I a, I, I) { return a << 16 | a >> 16; }},
    };
    for (const auto& [body, expected] : table) {
        const auto got = evaluate<I>(body, t.a, t.b, t.c);
        for (std::size_t i = 0; i < got.size(); ++i)
            ASSERT_EQ(got[i], expected(t.a[i], t.b[i], t.c[i]))
                << body << std::hex << " a " << t.a[i] << " b " << t.b[i] << " c " << t.c[i];
    }
    // division: non-zero divisors
    for (const char* body :
         {"div.s32 %d, %a, %b;", "rem.s32 %d, %a, %b;", "div.u32 %d, %a, %b;", "rem.u32 %d, %a, %b;"}) {
        const auto got = evaluate<I>(body, t.a, t.b, t.c);
        const std::string op = body;
        for (std::size_t i = 0; i < got.size(); ++i) {
            const I a = t.a[i], b = t.b[i];
            if (b == 0) continue;
            const bool is_signed = op[4] == 's', is_div = op[0] == 'd';
            const I want = is_signed ? static_cast<I>(is_div ? static_cast<long long>(S(a)) / S(b)
                                                             : static_cast<long long>(S(a)) % S(b))
                           : is_div  ? a / b
                                     : a % b;
            ASSERT_EQ(got[i], want) << body << " " << a << " " << b;
        }
    }
}

TEST(Instructions, Integer64) {
    using U = std::uint64_t;
    using L = std::int64_t;
    const std::vector<U> values = {0,
                                   1,
                                   5,
                                   0xffffffff,
                                   0x100000000,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xffffffffffffffff,
                                   0x123456789abcdef0};
    const Triples<U> t = cross<U>(values, {0, 1, 33, 64, 0xfffffffffffffff0});
    const std::vector<std::pair<const char*, std::function<U(U, U, U)>>> table = {
        {"add.s64 %d, %a, %b;", [](U a, U b, U) { return a + b; }},
        {"mul.lo.s64 %d, %a, %b;", [](U a, U b, U) { return a * b; }},
        {"mul.hi.u64 %d, %a, %b;",
         [](U a, U b, U) { return static_cast<U>((static_cast<unsigned __int128>(a) * b) >> 64); }},
        {"mul.hi.s64 %d, %a, %b;",
         [](U a, U b, U) { return static_cast<U>((static_cast<__int128>(L(a)) * L(b)) >> 64); }},
        {"min.s64 %d, %a, %b;", [](U a, U b, U) { return static_cast<U>(std::min(L(a), L(b))); }},
        {"max.u64 %d, %a, %b;", [](U a, U b, U) { return std::max(a, b); }},
        {"cvt.u32.u64 %r10, %c; shl.b64 %d, %a, %r10;",
         [](U a, U, U c) { return static_cast<std::uint32_t>(c) > 63 ? 0 : a << c; }},
        {"cvt.u32.u64 %r10, %c; shr.s64 %d, %a, %r10;",
         [](U a, U, U c) { return static_cast<U>(L(a) >> (static_cast<std::uint32_t>(c) > 63 ? 63 : c)); }},
        {"clz.b64 %r10, %a; cvt.u64.u32 %d, %r10;",
         [](U a, U, U) { return static_cast<U>(std::countl_zero(a)); }},
        {"brev.b64 %d, %a;",
         [](U a, U, U) {
             U r = 0;
             for (int i = 0; i < 64; ++i) r |= ((a >> i) & 1) << (63 - i);
             return r;
         }},
        {"bfe.s64 %d, %a, 60, 10;", [](U a, U, U) { return static_cast<U>(L(a) >> 60); }},
        {"setp.gt.s64 %p2, %a, %b; selp.b64 %d, %a, %b, %p2;",
         [](U a, U b, U) { return static_cast<U>(std::max(L(a), L(b))); }},
        {"cvt.u32.u64 %r10, %a; cvt.s64.s32 %d, %r10;",
         [](U a, U, U) { return static_cast<U>(static_cast<L>(static_cast<std::int32_t>(a))); }},
        {"add.cc.u64 %rd10, %a, %b; addc.u64 %d, %c, %c;",
         [](U a, U b, U c) { return c + c + (a + b < a ? 1 : 0); }},
        {"mov.b64 {%r10, %r11}, %a; mov.b64 %d, {%r11, %r10};", [](U a, U, U) { return a << 32 | a >> 32; }},
        {"cvt.rn.f64.s64 %fd1, %a; mov.b64 %d, %fd1;",
         [](U a, U, U) { return std::bit_cast<U>(static_cast<double>(L(a))); }},
        {"cvt.rn.f32.u64 %f1, %a; mov.b32 %r10, %f1; cvt.u64.u32 %d, %r10;",
         [](U a, U, U) { return static_cast<U>(std::bit_cast<std::uint32_t>(static_cast<float>(a))); }},
    };
    for (const auto& [body, expected] : table) {
        const auto got = evaluate<U>(body, t.a, t.b, t.c);
        for (std::size_t i = 0; i < got.size(); ++i)
            ASSERT_EQ(got[i], expected(t.a[i], t.b[i], t.c[i]))
                << body << std::hex << " a " << t.a[i] << " b " << t.b[i] << " c " << t.c[i];
    }
}

float f(I bits) { return std::bit_cast<float>(bits); }
I canonical(float v) { return v != v ? 0x7fffffffu : std::bit_cast<I>(v); }
I flush(I v) { return (v & 0x7f800000u) ? v : v & 0x80000000u; }
template <class F>
float rounded(int mode, F operation) {
    const int saved = fegetround();
    fesetround(mode);
    volatile float r = operation();
    fesetround(saved);
    return r;
}

TEST(Instructions, Float32) {
    const Triples<I> t = cross<I>(kFloats, {0, 0x80000000, 0x3f800000, 0xb3800000, 0x7f7fffff});
    const std::vector<std::pair<const char*, std::function<I(I, I, I)>>> table = {
        {"add.f32 %d, %a, %b;", [](I a, I b, I) { return canonical(f(a) + f(b)); }},
        {"sub.rn.f32 %d, %a, %b;", [](I a, I b, I) { return canonical(f(a) - f(b)); }},
        {"mul.f32 %d, %a, %b;", [](I a, I b, I) { return canonical(f(a) * f(b)); }},
        {"mul.ftz.f32 %d, %a, %b;", [](I a, I b, I) { return flush(canonical(f(flush(a)) * f(flush(b)))); }},
        {"fma.rn.f32 %d, %a, %b, %c;", [](I a, I b, I c) { return canonical(std::fmaf(f(a), f(b), f(c))); }},
        {"div.rn.f32 %d, %a, %b;", [](I a, I b, I) { return canonical(f(a) / f(b)); }},
        {"sqrt.rn.f32 %d, %a;", [](I a, I, I) { return canonical(std::sqrt(f(a))); }},
        {"rcp.rn.f32 %d, %a;", [](I a, I, I) { return canonical(1.0f / f(a)); }},
        {"add.rz.f32 %d, %a, %b;",
         [](I a, I b, I) {
             volatile float x = f(a), y = f(b);
             return canonical(rounded(FE_TOWARDZERO, [&] { return x + y; }));
         }},
        {"add.rp.f32 %d, %a, %b;",
         [](I a, I b, I) {
             volatile float x = f(a), y = f(b);
             return canonical(rounded(FE_UPWARD, [&] { return x + y; }));
         }},
        {"mul.rm.f32 %d, %a, %b;",
         [](I a, I b, I) {
             volatile float x = f(a), y = f(b);
             return canonical(rounded(FE_DOWNWARD, [&] { return x * y; }));
         }},
        {"fma.rm.f32 %d, %a, %b, %c;",
         [](I a, I b, I c) {
             volatile float x = f(a), y = f(b), z = f(c);
             return canonical(rounded(FE_DOWNWARD, [&] { return std::fmaf(x, y, z); }));
         }},
        {"div.rp.f32 %d, %a, %b;",
         [](I a, I b, I) {
             volatile float x = f(a), y = f(b);
             return canonical(rounded(FE_UPWARD, [&] { return x / y; }));
         }},
        {"add.sat.f32 %d, %a, %b;",
         [](I a, I b, I) {
             const float v = f(a) + f(b);
             return std::bit_cast<I>(v > 0 ? (v < 1 ? v : 1.0f) : 0.0f);
         }},
        {"abs.f32 %d, %a;", [](I a, I, I) { return canonical(f(a & 0x7fffffff)); }},
        {"copysign.f32 %d, %a, %b;", [](I a, I b, I) { return (b & 0x7fffffff) | (a & 0x80000000); }},
        {"min.f32 %d, %a, %b;",
         [](I a, I b, I) -> I {
             if (f(a) != f(a)) return canonical(f(b));
             if (f(b) != f(b)) return a;
             if (f(a) == f(b)) return a | (b & 0x80000000);
             return f(a) < f(b) ? a : b;
         }},
        {"max.NaN.f32 %d, %a, %b;",
         [](I a, I b, I) -> I {
             if (f(a) != f(a) || f(b) != f(b)) return 0x7fffffff;
             if (f(a) == f(b)) return (a & b & 0x80000000) | (a & 0x7fffffff);
             return f(a) > f(b) ? a : b;
         }},
        {"setp.lt.f32 %p2, %a, %b; selp.b32 %d, 1, 0, %p2;",
         [](I a, I b, I) { return f(a) < f(b) ? 1u : 0u; }},
        {"setp.ne.f32 %p2, %a, %b; selp.b32 %d, 1, 0, %p2;",
         [](I a, I b, I) { return f(a) < f(b) || f(a) > f(b) ? 1u : 0u; }},
        {"setp.neu.f32 %p2, %a, %b; selp.b32 %d, 1, 0, %p2;",
         [](I a, I b, I) { return f(a) != f(b) ? 1u : 0u; }},
        {"setp.geu.f32 %p2, %a, %b; selp.b32 %d, 1, 0, %p2;",
         [](I a, I b, I) { return !(f(a) < f(b)) ? 1u : 0u; }},
        {"setp.nan.f32 %p2, %a, %b; selp.b32 %d, 1, 0, %p2;",
         [](I a, I b, I) { return f(a) != f(a) || f(b) != f(b) ? 1u : 0u; }},
        {"setp.eq.ftz.f32 %p2, %a, %b; selp.b32 %d, 1, 0, %p2;",
         [](I a, I b, I) { return f(flush(a)) == f(flush(b)) ? 1u : 0u; }},
        {"set.gt.f32.f32 %d, %a, %b;", [](I a, I b, I) { return f(a) > f(b) ? 0x3f800000u : 0u; }},
        {"testp.subnormal.f32 %p2, %a; selp.b32 %d, 1, 0, %p2;",
         [](I a, I, I) { return std::fpclassify(f(a)) == FP_SUBNORMAL ? 1u : 0u; }},
        {"cvt.rzi.s32.f32 %d, %a;",
         [](I a, I, I) {
             const float v = f(a);
             return v != v               ? 0u
                    : v >= 2147483648.f  ? 0x7fffffffu
                    : v <= -2147483648.f ? 0x80000000u
                                         : static_cast<I>(static_cast<S>(v));
         }},
        {"cvt.rni.s32.f32 %d, %a;",
         [](I a, I, I) {
             const float v = f(a);
             return v != v               ? 0u
                    : v >= 2147483648.f  ? 0x7fffffffu
                    : v <= -2147483648.f ? 0x80000000u
                                         : static_cast<I>(static_cast<S>(std::nearbyint(v)));
         }},
        {"cvt.rmi.f32.f32 %d, %a;", [](I a, I, I) { return canonical(std::floor(f(a))); }},
        {"cvt.rzi.u32.f32 %d, %a;",
         [](I a, I, I) {
             const float v = f(a);
             return v != v || v <= 0 ? 0u : v >= 4294967296.f ? 0xffffffffu : static_cast<I>(v);
         }},
        {"cvt.rn.f32.s32 %d, %a;", [](I a, I, I) { return std::bit_cast<I>(static_cast<float>(S(a))); }},
        {"cvt.rz.f32.u32 %d, %a;",
         [](I a, I, I) {
             volatile double v = a;
             return std::bit_cast<I>(rounded(FE_TOWARDZERO, [&] { return static_cast<float>(v); }));
         }},
        {"cvt.sat.f32.f32 %d, %a;",
         [](I a, I, I) {
             const float v = f(a);
             return std::bit_cast<I>(v > 0 ? (v < 1 ? v : 1.0f) : 0.0f);
         }},
        {"cvt.f64.f32 %fd1, %a; cvt.f64.f32 %fd2, %b; mul.f64 %fd3, %fd1, %fd2; cvt.rn.f32.f64 %d, %fd3;",
         [](I a, I b, I) { return canonical(static_cast<float>(static_cast<double>(f(a)) * f(b))); }},
        {"cvt.f64.f32 %fd1, %a; cvt.f64.f32 %fd2, %b; cvt.f64.f32 %fd3, %c; fma.rn.f64 %fd3, %fd1, %fd2, "
         "%fd3; cvt.rz.f32.f64 %d, %fd3;",
         [](I a, I b, I c) {
             volatile double v =
                 std::fma(static_cast<double>(f(a)), static_cast<double>(f(b)), static_cast<double>(f(c)));
             return canonical(rounded(FE_TOWARDZERO, [&] { return static_cast<float>(v); }));
         }},
    };
    for (const auto& [body, expected] : table) {
        const auto got = evaluate<I>(body, t.a, t.b, t.c);
        for (std::size_t i = 0; i < got.size(); ++i)
            ASSERT_EQ(got[i], expected(t.a[i], t.b[i], t.c[i]))
                << body << std::hex << " a " << t.a[i] << " b " << t.b[i] << " c " << t.c[i];
    }
}

// PTX documents maximum errors for the approximations; these must be inside.
TEST(Instructions, ApproximationsAreInsideTheDocumentedError) {
    std::vector<I> x;
    for (int e = -30; e <= 30; ++e)
        for (int k = 0; k < 37; ++k) {
            const float v = std::ldexp(1.0f + static_cast<float>(k) / 37.0f, e);
            x.push_back(std::bit_cast<I>(v));
            x.push_back(std::bit_cast<I>(-v));
        }
    struct Row {
        const char* body;
        std::function<double(double)> exact;
        double relative, absolute;
        double low, high;
    };
    const Row rows[] = {
        {"ex2.approx.f32 %d, %a;", [](double v) { return std::exp2(v); }, std::ldexp(1, -22), 0, -126, 127},
        {"lg2.approx.f32 %d, %a;", [](double v) { return std::log2(v); }, std::ldexp(1, -22),
         std::ldexp(1, -22), 1e-30, 1e30},
        {"sin.approx.f32 %d, %a;", [](double v) { return std::sin(v); }, 0, std::ldexp(1, -20.5), -3.15,
         3.15},
        {"cos.approx.f32 %d, %a;", [](double v) { return std::cos(v); }, 0, std::ldexp(1, -20.5), -3.15,
         3.15},
        {"tanh.approx.f32 %d, %a;", [](double v) { return std::tanh(v); }, std::ldexp(1, -11), 0, -1e30,
         1e30},
        {"rcp.approx.f32 %d, %a;", [](double v) { return 1 / v; }, std::ldexp(1, -23), 0, -1e30, 1e30},
        {"rsqrt.approx.f32 %d, %a;", [](double v) { return 1 / std::sqrt(v); }, std::ldexp(1, -22.9), 0,
         1e-30, 1e30},
        {"sqrt.approx.f32 %d, %a;", [](double v) { return std::sqrt(v); }, std::ldexp(1, -23), 0, 1e-30,
         1e30},
    };
    for (const Row& row : rows) {
        const auto got = evaluate<I>(row.body, x, x, x);
        for (std::size_t i = 0; i < got.size(); ++i) {
            const double v = f(x[i]);
            if (v < row.low || v > row.high) continue;
            const double want = row.exact(v);
            ASSERT_LE(std::fabs(f(got[i]) - want), row.relative * std::fabs(want) + row.absolute)
                << row.body << " of " << v;
        }
    }
    // special values (PTX ISA tables)
    const std::vector<I> special = {0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xbf800000};
    EXPECT_EQ(evaluate<I>("ex2.approx.ftz.f32 %d, %a;", special, special, special),
              (std::vector<I>{0x3f800000, 0x3f800000, 0x7f800000, 0, 0x7fffffff, 0x3f000000}));
    EXPECT_EQ(evaluate<I>("lg2.approx.ftz.f32 %d, %a;", special, special, special),
              (std::vector<I>{0xff800000, 0xff800000, 0x7f800000, 0x7fffffff, 0x7fffffff, 0x7fffffff}));
    EXPECT_EQ(evaluate<I>("rsqrt.approx.ftz.f32 %d, %a;", special, special, special),
              (std::vector<I>{0x7f800000, 0xff800000, 0, 0x7fffffff, 0x7fffffff, 0x7fffffff}));
    EXPECT_EQ(evaluate<I>("sin.approx.ftz.f32 %d, %a;", {0, 0x80000000, 0x7f800000}, {0, 0, 0}, {0, 0, 0}),
              (std::vector<I>{0, 0x80000000, 0x7fffffff}));
}

// What the coarse approximations answer is off by nearly as much as documented: a kernel that cannot bear
// that must fail. They stay odd, reach the ends, and repeat.
TEST(Instructions, CoarseApproximationsAreCoarse) {
    std::vector<I> x, negated;
    for (int e = -20; e <= 2; ++e) {
        for (int k = 0; k < 37; ++k) {
            x.push_back(std::bit_cast<I>(std::ldexp(1.0f + static_cast<float>(k) / 37.0f, e)));
            negated.push_back(x.back() | 0x80000000u);
        }
    }
    const auto got = evaluate<I>("tanh.approx.f32 %d, %a;", x, x, x);
    const auto odd = evaluate<I>("tanh.approx.f32 %d, %a;", negated, negated, negated);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double want = std::tanh(static_cast<double>(f(x[i])));
        const double error = std::fabs(f(got[i]) - want) / want;
        ASSERT_EQ(odd[i], got[i] | 0x80000000u);
        ASSERT_LE(std::fabs(f(got[i])), 1.0f);
        ASSERT_LE(error, std::ldexp(1, -11)) << f(x[i]);
        // Near 1 the end of the range cuts the error short.
        ASSERT_GE(error, want < 0.999 ? std::ldexp(1, -12.1) : 0.0) << f(x[i]);
    }
    EXPECT_EQ(evaluate<I>("tanh.approx.f32 %d, %a;", {0, 0x80000000, 0x7f800000, 0xff800000, 0x41a00000},
                          {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}),
              (std::vector<I>{0, 0x80000000, 0x3f800000, 0xbf800000, 0x3f800000}));
}

// All 65536 halves, and halves of hard sums.
TEST(Instructions, Half) {
    std::vector<I> all(65536);
    for (I i = 0; i < all.size(); ++i) all[i] = i;
    const auto value = [](I h) -> double {
        const int e = (h >> 10) & 31, m = h & 1023;
        const double v = e == 31  ? (m ? NAN : INFINITY)
                         : e == 0 ? std::ldexp(m, -24)
                                  : std::ldexp(1024 + m, e - 25);
        return (h & 0x8000) ? -v : v;
    };
    const auto to_float = evaluate<I>("cvt.u16.u32 %h1, %a; cvt.f32.f16 %d, %h1;", all, all, all);
    for (I h = 0; h < 65536; ++h) {
        const double want = value(h);
        ASSERT_EQ(to_float[h], canonical(static_cast<float>(want))) << h;
    }
    // float -> half is the inverse, and rounds to nearest even between
    const auto back =
        evaluate<I>("cvt.rn.f16.f32 %h1, %a; cvt.u32.u16 %d, %h1;", to_float, to_float, to_float);
    std::vector<I> between;
    for (I h = 0; h < 0x7c00; ++h) {
        ASSERT_EQ(back[h], h);
        between.push_back(
            std::bit_cast<I>(static_cast<float>((value(h) + (h == 0x7bff ? 65536.0 : value(h + 1))) / 2)));
    }
    const auto ties = evaluate<I>("cvt.rn.f16.f32 %h1, %a; cvt.u32.u16 %d, %h1;", between, between, between);
    for (I h = 0; h < 0x7c00; ++h) ASSERT_EQ(ties[h], (h & 1) ? h + 1 : h) << h;
    const auto down = evaluate<I>("cvt.rz.f16.f32 %h1, %a; cvt.u32.u16 %d, %h1;", between, between, between);
    for (I h = 0; h < 0x7c00; ++h) ASSERT_EQ(down[h], h) << h;
    // packed fma, both halves at once: 1.5 * x + x exactly rounded
    std::vector<I> x, one(0);
    for (I h = 0; h < 0x7c00; h += 7) x.push_back(h | (h ^ 0x8000) << 16);
    const std::vector<I> factor(x.size(), 0x3e003e00);
    const auto fused = evaluate<I>("fma.rn.f16x2 %d, %a, %b, %a;", x, factor, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double exact = 2.5 * value(x[i] & 0xffff);
        const I low = fused[i] & 0xffff;
        if (exact >= 65520) {
            ASSERT_EQ(low, 0x7c00u);
            continue;
        }
        const double got = value(low), next = value(low + 1), before = low ? value(low - 1) : 0;
        ASSERT_LE(std::fabs(got - exact), std::fabs(next - exact));
        ASSERT_LE(std::fabs(got - exact), std::fabs(before - exact) + (low ? 0 : 1));
        ASSERT_EQ(fused[i] >> 16, low | 0x8000u);
    }
    // fp8: every code there and back
    std::vector<I> bytes(65536);
    for (I i = 0; i < 65536; ++i) bytes[i] = i;
    for (const char* format : {"e4m3x2", "e5m2x2"}) {
        const std::string body = std::string("cvt.u16.u32 %h1, %a; cvt.rn.f16x2.") + format +
                                 " %r10, %h1; cvt.rn.satfinite." + format +
                                 ".f16x2 %h2, %r10; cvt.u32.u16 %d, %h2;";
        const auto got = evaluate<I>(body, bytes, bytes, bytes);
        const bool e4m3 = std::string(format) == "e4m3x2";
        for (I i = 0; i < 65536; ++i)
            for (int s = 0; s < 16; s += 8) {
                const I b = (i >> s) & 0xff, g = (got[i] >> s) & 0xff;
                const bool nan = e4m3 ? (b & 0x7f) == 0x7f : (b & 0x7f) > 0x7c;
                const bool infinite = !e4m3 && (b & 0x7f) == 0x7c;
                ASSERT_EQ(g, nan ? 0x7fu : infinite ? (b & 0x80) | 0x7bu : b) << format << " " << i;
            }
    }
    // tf32 and bf16
    const auto bf = evaluate<I>("cvt.rn.bf16x2.f32 %d, %a, %b;", {0x3f808000, 0x3f818000, 0x7f7fffff},
                                {0x3f800001, 0xff800000, 0x7fc00000}, {0, 0, 0});
    EXPECT_EQ(bf, (std::vector<I>{0x3f803f80, 0x3f82ff80, 0x7f807fff}));
    const auto tf =
        evaluate<I>("cvt.rna.tf32.f32 %d, %a;", {0x3f801000, 0x3f800fff, 0x7f800000}, {0, 0, 0}, {0, 0, 0});
    EXPECT_EQ(tf, (std::vector<I>{0x3f802000, 0x3f800000, 0x7f800000}));
}

// The module loads; the fault comes when lanes get to the instruction, and not before.
TEST(Instructions, UnknownOnesAreRefusedByName) {
    const std::string head =
        ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<4>; .reg .f32 "
        "%f<4>;\n.reg .pred %p; mov.u32 %r1, 0; setp.eq.u32 %p, %r1, 0;\n";
    for (const char* text :
         {"add.bogus.s32 %r1, %r2, %r3;", "frobnicate.b32 %r1, %r2;", "add.f32x7 %r1, %r2, %r3;",
          "mul.s32 %r1, %r2, %r3;", "cvt.s32.f32 %r1, %f1;", "shfl.up.b32 %r1, %r2, 1, 0;",
          "tex.2d.v4.f32.f32 {%f1,%f1,%f1,%f1}, [%r1, {%f1,%f1}];"}) {
        for (const auto& [guard, executed] :
             {std::pair{"", true}, {"@%p ", true}, {"@!%p ", false}, {"@%p bra END; ", false}}) {
            const std::string line = std::string(guard) + text;
            auto loaded = Module::load(head + line + "\nEND: ret;\n}\n");
            auto* module = std::get_if<Module>(&loaded);
            ASSERT_TRUE(module) << line;
            Memory memory;
            const Outcome o = run(*module, memory, Launch{"k", {1}, {32}, 0, {}, false, {}}, {});
            ASSERT_EQ(o.faults.size(), executed ? 1u : 0u) << line << describe(o);
            if (!executed) continue;
            EXPECT_EQ(o.faults[0].rule, "unsupported-instruction") << line;
            EXPECT_EQ(o.faults[0].place.ptx_line, 8) << line;
            EXPECT_NE(o.faults[0].message.find("line 8 of the PTX"), std::string::npos) << describe(o);
        }
    }
}

}  // namespace
}  // namespace emulator::test
