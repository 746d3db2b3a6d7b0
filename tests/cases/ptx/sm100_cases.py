"""Cases of what sm_100 added outside its tensor cores: packed and mixed f32 arithmetic, 4-, 6- and 8-bit formats, wider loads."""
import os
import random
import subprocess
import tempfile

from arithmetic_cases import float_samples
from case_writer import Family
from convert_cases import narrowing_operands
from exact import *
from form_cases import FRACTIONS, ROUNDINGS, finish, options, some_pairs, some_triples
from memory_cases import N, REGS, SPACES, fill, slots, word_inputs, words

TARGET = "sm_100a"


def pairs_of(values):
    v = values if len(values) % 2 == 0 else values + [values[0]]
    return [x | y << 32 for x, y in zip(v[::2], v[1::2])]


def with_nan(v):
    return [F32.nan if x == NAN else x for x in v]


def packed():
    f = F32
    a, b = some_pairs(f, 701)
    ta, tb, tc = some_triples(f, 702)
    with Family("f32x2", FRACTIONS, [(n, "b64", pairs_of(v)) for n, v in (("a", a), ("b", b))], target=TARGET) as family:
        for (op, g), mode, ftz in options((("add", f_add), ("sub", f_sub), ("mul", f_mul)), ("",) + ROUNDINGS, ("", "ftz")):
            name = ".".join(p for p in (op, mode, ftz, "f32x2") if p)
            family.add(name, "both halves", f"{name} d, a, b;", [("d", "b64", pairs_of(with_nan([g(f, x, y, mode or "rn", bool(ftz)) for x, y in zip(a, b)])))])
        family.add("add.f32x2_half", "an upper half that has no value and is not used is no fault",
                   "mov.b64 p, {low, nothing};\nadd.f32x2 p, p, p;\nmov.b64 {d, nothing}, p;", [("d", "f32", [f_add(f, x & 0xFFFFFFFF, x & 0xFFFFFFFF) for x in pairs_of(a)])],
                   [("low", "f32", [x & 0xFFFFFFFF for x in pairs_of(a)])], ["reg .b64 p;", "reg .b32 nothing;"])
    with Family("fma_f32x2", FRACTIONS, [(n, "b64", pairs_of(v)) for n, v in (("a", ta), ("b", tb), ("c", tc))], target=TARGET) as family:
        for mode, ftz in options(ROUNDINGS, ("", "ftz")):
            name = ".".join(p for p in ("fma", mode, ftz, "f32x2") if p)
            family.add(name, "both halves", f"{name} d, a, b, c;", [("d", "b64", pairs_of(with_nan([f_fma(f, x, y, z, mode, bool(ftz)) for x, y, z in zip(ta, tb, tc)])))])


def mixed():
    for h in (F16, BF16):
        a, b = some_pairs(h, 703)
        c = (float_samples(F32, 40, 704) * 2)[:len(a)]
        wide = lambda v: [convert(h, F32, x) for x in v]
        with Family(f"mixed_{h.name}", FRACTIONS, [("a", h.name, a), ("b", h.name, b), ("c", "f32", c)], target=TARGET) as family:
            for (op, g), mode, sat in options((("add", f_add), ("sub", f_sub)), ("",) + ROUNDINGS, ("", "sat")):
                name = ".".join(p for p in (op, mode, sat, "f32", h.name) if p)
                family.add(name, "the narrow operand widened", f"{name} d, a, c;", [("d", "f32", [finish(F32, g(F32, x, y, mode or "rn"), sat) for x, y in zip(wide(a), c)])])
            for mode, sat in options(ROUNDINGS, ("", "sat")):
                name = ".".join(p for p in ("fma", mode, sat, "f32", h.name) if p)
                family.add(name, "the narrow operands widened", f"{name} d, a, b, c;",
                           [("d", "f32", [finish(F32, f_fma(F32, x, y, z, mode), sat) for x, y, z in zip(wide(a), wide(b), c)])])


def three():
    f = F32
    a, b = some_pairs(f, 705)
    c = a[::-1]
    with Family("minmax3_f32", FRACTIONS, [("a", "f32", a), ("b", "f32", b), ("c", "f32", c)], target=TARGET) as family:
        for op, ftz, nan, magnitude in options(("min", "max"), ("", "ftz"), ("", "NaN"), ("", "abs")):
            def pick(*v):
                if ftz:
                    v = [f.flush(x) for x in v]
                if magnitude:
                    v = [x & ~f.sign for x in v]
                r = v[0]
                for x in v[1:]:
                    r = f_minmax(f, r, x, op == "max", bool(nan))
                return r
            name = ".".join(p for p in (op, ftz, nan, magnitude, "f32") if p)
            family.add(name, "of three", f"{name} d, a, b, c;", [("d", "f32", [pick(x, y, z) for x, y, z in zip(a, b, c)])])
    r = random.Random(706)
    columns = {"numbers": [f.round(Fraction(r.randrange(-1000, 1000), 7), "rn") for _ in range(32)], "a_nan": None, "all_nan": [0x7FC00001] * 32, "zeros": [f.sign if i % 5 else 0 for i in range(32)]}
    columns["a_nan"] = columns["numbers"][:9] + [0xFFC00000] + columns["numbers"][10:]
    with Family("redux_f32", FRACTIONS, [("z", "b32", [0] * 32)], target=TARGET) as family:
        for (tag, v), op, magnitude, nan in options(tuple(columns.items()), ("min", "max"), ("", "abs"), ("", "NaN")):
            total = v[0] & ~f.sign if magnitude else v[0]
            for x in v[1:]:
                total = f_minmax(f, total, x & ~f.sign if magnitude else x, op == "max", bool(nan))
            total = f.nan if f.is_nan(total) else total
            name = ".".join(p for p in ("redux.sync", op, magnitude, nan, "f32") if p)
            family.add(f"{name}_{tag}", "over the warp", f"{name} d, a, 0xffffffff;", [("d", "f32", [total] * 32)], [("a", "f32", v)])


HOST = r"""
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <cstdio>
#include <cstring>
int main() {
    char kind; unsigned x, format;
    while (scanf(" %c %u %x", &kind, &format, &x) == 3) {
        float v; memcpy(&v, &x, 4);
        const auto f6 = format == 1 ? __NV_E2M3 : __NV_E3M2;
        const auto up = format & 1 ? cudaRoundPosInf : cudaRoundZero;
        const auto saturate = format & 2 ? __NV_SATFINITE : __NV_NOSAT;
        unsigned r = 0;
        if (kind == 'f') r = format == 0 ? __nv_cvt_float_to_fp4(v, __NV_E2M1, cudaRoundNearest) : __nv_cvt_float_to_fp6(v, f6, cudaRoundNearest);
        if (kind == 'r') { __half_raw h = format == 0 ? __nv_cvt_fp4_to_halfraw(x, __NV_E2M1) : __nv_cvt_fp6_to_halfraw(x, f6); r = h.x; }
        if (kind == 'e') r = __nv_cvt_float_to_e8m0(v, saturate, up);
        if (kind == 'b') { __nv_bfloat16_raw h; h.x = x; r = __nv_cvt_bfloat16raw_to_e8m0(h, saturate, up); }
        if (kind == 'o') { __nv_bfloat16_raw h = __nv_cvt_e8m0_to_bf16raw(x); r = h.x; }
        printf("%x\n", r);
    }
}
"""


def host(questions):
    include = os.environ.get("CUDA_INCLUDE", "/usr/local/cuda/include")
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "narrow.cc"), os.path.join(folder, "narrow")
        with open(source, "w") as f:
            f.write(HOST)
        subprocess.run(["g++", "-O1", "-std=c++17", f"-I{include}", source, "-o", program], check=True)
        run = subprocess.run([program], input="\n".join(questions) + "\n", capture_output=True, text=True, check=True)
    return [int(x, 16) for x in run.stdout.split()]


def narrow():
    source = "cuda_fp4.h, cuda_fp6.h and cuda_fp8.h of the toolkit, compiled for the host (generate.py); .relu from the ISA's text"
    a = [x for x in narrowing_operands(F32, Format("e2m1", 4, 1, None)) + narrowing_operands(F32, Format("e2m3", 6, 3, None))[14:] + narrowing_operands(F32, Format("e3m2", 6, 2, None))[14:]
         if x != F32.sign]
    r = random.Random(711)
    a += [F32.round(Fraction(r.randrange(-4000, 4000), 128), "rn") for _ in range(20)]
    with Family("cvt_fp4_fp6", source, target=TARGET) as family:
        for number, (name, bits) in enumerate((("e2m1", 4), ("e2m3", 6), ("e3m2", 6))):
            to = host([f"f {number} {x:x}" for x in a])
            codes = list(range(1 << bits))
            back = host([f"r {number} {x:x}" for x in codes])
            shift = 4 if bits == 4 else 8
            narrow_in = "cvt.u8.u16 x, a;\n" if bits == 4 else ""
            narrow_out = "\ncvt.u16.u8 d, x;" if bits == 4 else ""
            register = "x" if bits == 4 else None
            extra = ["reg .b8 x;"] if bits == 4 else []
            for relu in ("", "relu."):
                one = [0 if relu and F32.negative(x) and not F32.is_nan(x) else y for x, y in zip(a, to)]
                op = f"cvt.rn.satfinite.{relu}{name}x2.f32"
                family.add(op, "a above b", f"{op} {register or 'd'}, a, b;{narrow_out}", [("d", "b16", [x << shift | y for x, y in zip(one, one[::-1])])],
                           [("a", "f32", a), ("b", "f32", a[::-1])], extra)
                keep = lambda y: 0 if relu and F16.negative(y) else y
                op = f"cvt.rn.{relu}f16x2.{name}x2"
                other = codes[::-1]
                family.add(op, "every code", f"{narrow_in}{op} d, {register or 'a'};", [("d", "b32", [keep(back[x]) | keep(back[y]) << 16 for x, y in zip(codes, other)])],
                           [("a", "b16", [x | y << shift for x, y in zip(codes, other)])], extra)
    a = [x for x in float_samples(F32, 20, 712) + [0x00400000, 0x00400001, 0x7F000000, 0x7F000001, 0x3F800001, 0x3FFFFFFF, 0x00200000]]
    h = [x for x in float_samples(BF16, 20, 713)]
    if len(h) % 2:
        h.append(0)
    with Family("cvt_ue8m0", source, target=TARGET) as family:
        for mode, finite in options(("rz", "rp"), ("", "satfinite.")):
            number = (mode == "rp") + 2 * bool(finite)
            to = host([f"e {number} {x:x}" for x in a])
            op = f"cvt.{mode}.{finite}ue8m0x2.f32"
            family.add(op, "the exponent of the magnitude", f"{op} d, a, b;", [("d", "b16", [x << 8 | y for x, y in zip(to, to[::-1])])], [("a", "f32", a), ("b", "f32", a[::-1])])
            to = host([f"b {number} {x:x}" for x in h])
            op = f"cvt.{mode}.{finite}ue8m0x2.bf16x2"
            family.add(op, "the exponent of the magnitude", f"{op} d, a;", [("d", "b16", [x | y << 8 for x, y in zip(to[::2], to[1::2])])], [("a", "b32", [x | y << 16 for x, y in zip(h[::2], h[1::2])])])
        codes = list(range(256))
        back = host([f"o 0 {x:x}" for x in codes])
        back = [BF16.nan if BF16.is_nan(x) else x for x in back]
        family.add("cvt.rn.bf16x2.ue8m0x2", "every code", "cvt.rn.bf16x2.ue8m0x2 d, a;", [("d", "b32", [back[x] | back[255 - x] << 16 for x in codes])], [("a", "b16", [x | (255 - x) << 8 for x in codes])])


def wide_memory():
    data = words(714)
    space = SPACES[1]
    source = "the ISA's text; bytes in little-endian order, laid out by Python"
    with Family("ld_st_256", source, word_inputs(data), REGS + space.extra, TARGET) as family:
        long = [[data[2 * i][t] | data[2 * i + 1][t] << 32 for t in range(N)] for i in range(4)]
        for n, types, columns in ((8, ("b32", "u32", "s32", "f32"), data), (4, ("b64", "u64", "s64", "f64"), long)):
            w = int(types[0][1:])
            names = "{" + ", ".join(f"d{i}" for i in range(n)) + "}"
            values = "{" + ", ".join(f"w{i}" for i in range(8)) + "}" if n == 8 else "{v0, v1, v2, v3}"
            join = "" if n == 8 else "".join(f"mov.b64 v{i}, {{w{2 * i}, w{2 * i + 1}}};\n" for i in range(4))
            for t in types:
                family.add(f"ld.global.v{n}.{t}", "32 bytes at once", space.setup + fill(".global", "p0") + f"ld.global.v{n}.{t} {names}, [p0];", [(f"d{i}", f"b{w}", columns[i]) for i in range(n)])
                family.add(f"st.global.v{n}.{t}", "32 bytes at once", space.setup + join + f"st.global.v{n}.{t} [p0], {values};\n" + "".join(f"ld.global.b32 e{i}, [p0+{4 * i}];\n" for i in range(8)),
                           [(f"e{i}", "b32", data[i]) for i in range(8)], extra=["reg .b64 v<4>;"] if n == 4 else [])
        names = "{" + ", ".join(f"d{i}" for i in range(8)) + "}"
        for hint in ("L2::evict_normal", "L2::evict_first", "L2::evict_last"):
            family.add(f"ld.global.{hint}.v8.b32", "a hint changes no value", space.setup + fill(".global", "p0") + f"ld.global.{hint}.v8.b32 {names}, [p0];", [(f"d{i}", "b32", data[i]) for i in range(8)])
            family.add(f"st.global.{hint}.v8.b32", "a hint changes no value", space.setup + f"st.global.{hint}.v8.b32 [p0], {{w0, w1, w2, w3, w4, w5, w6, w7}};\n" + "".join(f"ld.global.b32 e{i}, [p0+{4 * i}];\n" for i in range(8)),
                       [(f"e{i}", "b32", data[i]) for i in range(8)])


def zeros():
    values = [random.Random(721).randrange(1, 1 << 32) for _ in range(32)]
    with Family("st_bulk", "the ISA's text: bytes of shared memory become zero", [("a", "b32", values)], ["module .shared .align 16 .b8 s[128];", "reg .b32 q<2>;", "reg .b64 p<2>;"], TARGET) as family:
        for weak, space in options(("", ".weak"), ("", ".shared::cta")):
            op = f"st.bulk{weak}{space}"
            body = ("mov.u32 q0, s;\nmad.lo.u32 q1, tid_, 4, q0;\nst.shared.b32 [q1], a;\nbar.warp.sync 0xffffffff;\nmov.b64 p1, 40;\ncvt.u64.u32 p0, q0;\n" + ("" if space else "cvta.shared.u64 p0, p0;\n") +
                    f"@!w {op} [{'q0' if space else 'p0'}+16], p1, 0;\nbar.warp.sync 0xffffffff;\nld.shared.b32 d, [q1];")
            family.add(op, "40 bytes from the 16th on", "setp.ne.u32 w, tid_, 5;\n" + body, [("d", "b32", [0 if 4 <= i < 14 else x for i, x in enumerate(values)])], extra=["reg .pred w;"])


def write_all():
    packed()
    zeros()
    mixed()
    three()
    narrow()
    wide_memory()
