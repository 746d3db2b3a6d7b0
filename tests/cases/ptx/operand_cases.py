"""Cases of operands: constants and their expressions, sinks, negated and constant predicates, registers wider than the type."""
import random
from fractions import Fraction

from case_writer import Family
from exact import *

SOURCE = "the ISA's sections on constants, operands and operand sizes"


def write_all():
    r = random.Random(801)
    a = [0, 1, 7, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF] + [r.getrandbits(32) for _ in range(4)]
    n = len(a)
    f = lambda v: F32.round(Fraction(v), "rn")
    d = lambda v: F64.round(Fraction(v), "rn")
    x = [f(v) for v in (0, 1, -2, 0.5, 1000, -0.125, 3, 5, 7, -9)]
    y = [d(v) for v in (0, 1, -2, 0.5, 1000, -0.125, 3, 5, 7, -9)]
    h = [v & 0xFFFF for v in a]
    ins = [("a", "b32", a), ("x", "f32", x), ("y", "f64", y), ("h", "b16", h), ("c", "pred", [i % 2 for i in range(n)])]
    with Family("constants", SOURCE, ins) as family:
        for tag, text, value in (("decimal", "-7", -7), ("binary", "0b101", 5), ("octal", "017U", 15), ("hexadecimal", "0xFFFFFFF0", -16), ("product", "(1+2)*3", 9), ("shift", "1<<4", 16),
                                 ("signed_shift", "-1>>28", -1), ("unsigned_shift", "0xFFFFFFFFU>>28", 15), ("not", "!5", 0), ("complement", "~5", -6), ("choice", "(5 > 3) ? 7 : 9", 7),
                                 ("logic", "(0xF0 & 0x3C) ^ (1 | 8)", 0x30 ^ 9), ("remainder", "17 % 5 - 20 / 3", -4), ("compared", "(3 <= 3) + (4 != 4) * 8", 1), ("warp_size", "WARP_SZ", 32),
                                 ("wide", "0x1FFFFFFFF", -1), ("both", "(1 && 0) + (1 || 0) * 2", 2)):
            family.add(f"add_{tag}", "an integer constant expression", f"add.u32 d, a, {text};", [("d", "b32", [unsigned(v + value, 32) for v in a])])
        family.add("mov_64", "all 64 bits", "mov.u64 d, 0x8000000000000001;\nmov.s64 e, -2;", [("d", "b64", [0x8000000000000001] * n), ("e", "b64", [unsigned(-2, 64)] * n)])
        family.add("mov_16", "16 bits", "mov.u16 d, 70000;\nmov.b16 e, 0x3c00;", [("d", "b16", [70000 & 0xFFFF] * n), ("e", "b16", [0x3C00] * n)])
        for tag, text, value in (("decimal", "-1.5", Fraction(-3, 2)), ("exponent", "1e3", 1000), ("bits", "0f3f800000", 1), ("double_bits", "0d3ff0000000000000", 1), ("fraction", ".25", Fraction(1, 4)), ("small", ".5e-1", Fraction(0.05)), ("point", "2.", 2)):
            family.add(f"add_f32_{tag}", "a floating constant in single precision", f"add.f32 d, x, {text};", [("d", "f32", [f_add(F32, v, f(value)) for v in x])])
            family.add(f"add_f64_{tag}", "a floating constant in double precision", f"add.f64 d, y, {text};", [("d", "f64", [f_add(F64, v, d(value)) for v in y])])
        family.add("fma_f32", "two constants", "fma.rn.f32 d, x, 2.0, 0.5;", [("d", "f32", [f_fma(F32, v, f(2), f(0.5)) for v in x])])
        family.add("fma_f64", "two constants", "fma.rn.f64 d, y, 0.1, 0.5;", [("d", "f64", [f_fma(F64, v, d(Fraction(0.1)), d(0.5)) for v in y])])
        family.add("mov_f32", "the bits of one", "mov.b32 d, 0f3f800000;\nmov.f32 e, -2.5;\nmov.f64 f, 0f3f800000;", [("d", "b32", [0x3F800000] * n), ("e", "f32", [f(-2.5)] * n), ("f", "f64", [d(1)] * n)])
        family.add("setp", "against a constant", "setp.gt.f32 p, x, 0.5;\nsetp.lt.s32 q, a, -1;\nsetp.ge.f64 r, y, 1e3;",
                   [("p", "pred", [int(F32.value(v) > Fraction(1, 2)) for v in x]), ("q", "pred", [int(signed(v, 32) < -1) for v in a]), ("r", "pred", [int(F64.value(v) >= 1000) for v in y])])
        family.add("selp", "of constants", "selp.b32 d, 1, -1, c;\nselp.f32 e, 0f3f800000, 0.25, c;",
                   [("d", "b32", [1 if i % 2 else 0xFFFFFFFF for i in range(n)]), ("e", "f32", [f(1) if i % 2 else f(0.25) for i in range(n)])])
        family.add("slct", "by a constant", "slct.s32.f32 d, a, 5, -1.0;\nslct.s32.s32 e, a, 5, 0;", [("d", "b32", [5] * n), ("e", "b32", a)])
        family.add("mul_wide_s16", "a negative 16-bit constant", "mul.wide.s16 d, h, -3;\nmad.lo.s16 e, h, -3, 100;",
                   [("d", "b32", [unsigned(signed(v, 16) * -3, 32) for v in h]), ("e", "b16", [unsigned(v * -3 + 100, 16) for v in h])])
        family.add("mul_wide_s32", "a negative constant", "mul.wide.s32 d, a, -3;\nmad.wide.s32 e, a, 2, -1;",
                   [("d", "b64", [unsigned(signed(v, 32) * -3, 64) for v in a]), ("e", "b64", [unsigned(signed(v, 32) * 2 - 1, 64) for v in a])])
        family.add("first", "as the first operand", "sub.u32 d, 0, a;\nshl.b32 e, 1, h32;\ncopysign.f32 f, -1.0, x;\npopc.b32 i, 0xff;", [("d", "b32", [unsigned(-v, 32) for v in a]),
                   ("e", "b32", [1 << (k % 8) for k in range(n)]), ("f", "f32", [v | F32.sign for v in x]), ("i", "b32", [8] * n)], [("h32", "b32", [k % 8 for k in range(n)])])
        family.add("pack", "an element of a vector", "mov.b64 d, {a, 5};", [("d", "b64", [v | 5 << 32 for v in a])])
        family.add("vote", "a constant predicate", "vote.sync.any.pred p, 1, 0x3ff;\nvote.sync.all.pred q, 0, 0x3ff;\nsetp.ne.and.s32 r, a, 0, 1;",
                   [("p", "pred", [1] * n), ("q", "pred", [0] * n), ("r", "pred", [int(v != 0) for v in a])])
    with Family("sinks", SOURCE, ins) as family:
        family.add("setp_first", "only the complement", "setp.eq.s32 _|q, a, 7;", [("q", "pred", [int(v != 7) for v in a])])
        family.add("setp_second", "only the comparison", "setp.eq.s32 p|_, a, 7;", [("p", "pred", [int(v == 7) for v in a])])
        family.add("shfl", "without its predicate", "shfl.sync.idx.b32 d|_, a, 3, 31, 0x3ff;", [("d", "b32", [a[3]] * n)])
        family.add("match_first", "only the predicate", "match.all.sync.b32 _|p, 5, 0x3ff;\nmatch.all.sync.b32 _|q, a, 0x3ff;", [("p", "pred", [1] * n), ("q", "pred", [0] * n)])
        family.add("match_second", "only the mask", "match.all.sync.b32 d|_, 5, 0x3ff;", [("d", "b32", [0x3FF] * n)])
        family.add("mov", "one half", "mov.b32 {d, _}, a;\nmov.b64 {_, e}, y;", [("d", "b16", [v & 0xFFFF for v in a]), ("e", "b32", [v >> 32 for v in y])])
        family.add("elect", "only the predicate", "elect.sync _|p, 0x3ff;", [("p", "pred", [1] + [0] * (n - 1))], target="sm_90")
        data = [r.getrandbits(32) for _ in range(4)]
        family.add("ld_v4", "some elements", "ld.global.v4.b32 {d, _, e, _}, [g];\nld.global.v2.b64 {_, f}, [g];", [("d", "b32", [data[0]] * n), ("e", "b32", [data[2]] * n), ("f", "b64", [data[2] | data[3] << 32] * n)],
                   extra=["mem g b32: " + " ".join(map(str, data))])
    with Family("stored_constants", SOURCE, [("a", "b32", [9])]) as family:
        mem = lambda before, after: ["mem g b32: " + " ".join(map(str, before)) + " -> " + " ".join(map(str, after))]
        family.add("st", "integers and floats", "st.global.b32 [g], -5;\nst.global.v2.f32 [g+8], {1.0, 2.5};\nst.global.f64 [g+16], 1.0;\nst.global.u8 [g+4], 300;", [], extra=mem([0] * 6, [unsigned(-5, 32), 300 & 255, f(1), f(2.5), 0, d(1) >> 32]))
        family.add("atom", "integers and floats", "atom.global.add.u32 d, [g], 1;\nred.global.add.f32 [g+4], 1.5;\nred.global.add.f64 [g+8], 1.0;\natom.global.cas.b32 e, [g+16], 3, -1;", [("d", "b32", [6]), ("e", "b32", [3])],
                   extra=mem([6, f(2), 0, d(1) >> 32, 3, 0], [7, f(3.5), 0, d(2) >> 32, 0xFFFFFFFF, 0]))
        family.add("address", "sums of displacements", "add.u64 p0, g, 8;\nld.global.b32 d, [p0+-4];\nld.global.b32 e, [g+4+8+-4];\nst.global.b32 [p0+-8], d;", [("d", "b32", [22]), ("e", "b32", [33])], extra=mem([11, 22, 33], [22, 22, 33]) + ["reg .b64 p<1>;"])
    with Family("wider_registers", SOURCE + ": a result narrower than its register is extended by its type, an operand is cut", ins) as family:
        family.add("cvt_to_narrow", "sign- and zero-extended", "cvt.s8.s32 d, a;\ncvt.u8.u32 e, a;\ncvt.s16.s32 f, a;\ncvt.u16.u32 i, a;",
                   [("d", "b32", [unsigned(signed(v, 8), 32) for v in a]), ("e", "b32", [v & 255 for v in a]), ("f", "b32", [unsigned(signed(v, 16), 32) for v in a]), ("i", "b32", [v & 0xFFFF for v in a])])
        family.add("cvt_from_narrow", "the low part", "cvt.u32.u8 d, a;\ncvt.s64.s8 e, a;\ncvt.rn.f32.s8 f, a;\ncvt.rn.f32.u16 i, a;",
                   [("d", "b32", [v & 255 for v in a]), ("e", "b64", [unsigned(signed(v, 8), 64) for v in a]), ("f", "f32", [f(signed(v, 8)) for v in a]), ("i", "f32", [f(v & 0xFFFF) for v in a])])
        family.add("cvt_rounded", "a float to a narrow integer in a wide register", "cvt.rni.s8.f32 d, x;\ncvt.rzi.u16.f32 e, x;", [("d", "b32", [unsigned(signed(to_integer(F32, v, "rni", "s8"), 8), 32) for v in x]),
                   ("e", "b32", [to_integer(F32, v, "rzi", "u16") for v in x])])
        family.add("ld", "extended by the type of the load", "ld.global.s8 d, [g];\nld.global.u8 e, [g];\nld.global.s16 f, [g];\nld.global.b16 i, [g];\nld.global.s32 l, [g];\nld.global.b8 m, [g];",
                   [("d", "b64", [unsigned(-16, 64)] * n), ("e", "b64", [0xF0] * n), ("f", "b32", [0xFFFFF0F0] * n), ("i", "b32", [0xF0F0] * n), ("l", "b64", [0xFFFFFFFFF0F0F0F0] * n), ("m", "b16", [0xF0] * n)],
                   extra=["mem g b32: " + str(0xF0F0F0F0)])
