"""Cases of cvt and cvt.pack: every pair of types with every rounding and saturation."""
import os
import random
import subprocess
import tempfile
from fractions import Fraction

from arithmetic_cases import float_samples, integer_samples
from case_writer import Family
from exact import *
from form_cases import FRACTIONS, ROUNDINGS, options

INTEGERS = ("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64")
WHOLE = ("rni", "rzi", "rmi", "rpi")


def register(t):
    return t if t in FORMATS else f"b{max(int(t[1:]), 16)}"


def fit(v, t):
    """An integer result in its register: narrower than it, it is extended by its type."""
    w = int(t[1:])
    return unsigned(typed(unsigned(v, w), t), max(w, 16))


def clamp(v, t):
    low, high = ends(t)
    return min(max(v, low), high)


def ends(t):
    w = int(t[1:])
    return (-(1 << (w - 1)), (1 << (w - 1)) - 1) if t[0] == "s" else (0, (1 << w) - 1)


def integer_operands(t):
    w = int(t[1:])
    r = max(w, 16)
    values = integer_samples(r, 301, 6)
    # halfway between and beside the values of the float formats
    for bits in (8, 11, 24, 53):
        if w > bits:
            values += [(1 << bits) + 1, (1 << bits) + 3, (1 << (w - 1)) - 1, ((1 << bits) - 1 << (w - bits - 1)) | (1 << (w - bits - 2)) if w - bits >= 2 else 5]
    return [unsigned(x, r) for x in values]


def float_operands(f):
    """Special values, halves, and the ends of every integer type's range."""
    values = float_samples(f, 6, 302)
    for k in (-5, -3, -1, 1, 3, 5, 7):
        values.append(f.round(Fraction(k, 2), "rn"))
    for bits in (7, 8, 15, 16, 31, 32, 63, 64):
        for v in (Fraction(2) ** bits, Fraction(2) ** bits - Fraction(1, 2), -Fraction(2) ** bits - 1):
            x = f.round(v, "rz")
            if not f.is_inf(x):
                values.append(x)
    return values


def narrowing_operands(source, target):
    values = float_samples(source, 6, 303)
    r = random.Random(304)
    drop = source.mantissa - target.mantissa
    if drop > 0:
        for k in (-2, 0, 3):
            base = (source.bias + k) << source.mantissa | r.getrandbits(target.mantissa) << drop
            values += [base | 1 << (drop - 1), base | (1 << (drop - 1)) + 1, base | (1 << (drop - 1)) - 1, source.sign | base | 3 << (drop - 1)]
    for k in (target.emin - 1, target.emin - 3, target.emin - target.mantissa - 1, target.bias, target.bias + 1):
        if source.emin <= k <= source.bias:
            values += [(k + source.bias) << source.mantissa | r.getrandbits(source.mantissa), source.sign | (k + source.bias) << source.mantissa | 1]
    return values


def nan_integer(f, t):
    """cvt of a NaN, by the ISA's note: zero, but for f64 or to 64 bits the lowest value of the signed type."""
    w = int(t[1:])
    return 1 << (w - 1) if f is F64 or w == 64 else 0


def between_integers():
    for source in INTEGERS:
        a = integer_operands(source)
        with Family(f"cvt_from_{source}", FRACTIONS, [("a", register(source), a)]) as family:
            v = [typed(x, source) for x in a]
            for target, sat in options(INTEGERS, ("", "sat.")):
                if sat and all(clamp(x, target) == x for x in ends(source)):
                    continue  # ptxas refuses a .sat that cannot clamp
                family.add(f"cvt.{sat}{target}.{source}", "clamped" if sat else "cut or extended", f"cvt.{sat}{target}.{source} d, a;",
                           [("d", register(target), [fit(clamp(x, target) if sat else x, target) for x in v])])
            for f, mode, ftz, sat in options((F16, BF16, F32, F64), ROUNDINGS, ("", "ftz."), ("", "sat.")):
                if ftz and f is not F32:
                    continue
                if f is BF16 and sat:
                    continue  # refused by ptxas
                exact = [f.round(Fraction(x), mode) for x in v]
                byte = f is BF16 and source in ("u8", "s8")  # taken from a register of 8 bits only
                family.add(f"cvt.{mode}.{ftz}{sat}{f.name}.{source}", "one rounding",
                           (f"cvt.{source}.{source[0]}16 byte, a;\n" if byte else "") + f"cvt.{mode}.{ftz}{sat}{f.name}.{source} d, {'byte' if byte else 'a'};",
                           [("d", f.name, [f_sat(f, x) if sat else x for x in exact])], target="sm_90" if f is BF16 else None, extra=["reg .b8 byte;"] if byte else [])


def from_floats():
    for f in (F16, BF16, F32, F64):
        a = float_operands(f)
        with Family(f"cvt_from_{f.name}", FRACTIONS + ", NaN as the ISA's note on cvt says", [("a", f.name, a)], target="sm_90" if f is BF16 else None) as family:
            for target, mode, ftz, sat in options(INTEGERS, WHOLE, ("", "ftz.") if f is F32 else ("",), ("", "sat.")):
                if f is BF16 and sat:
                    continue  # refused by ptxas
                out = []
                for x in a:
                    y = to_integer(f, x, mode, target, bool(ftz))
                    out.append(fit(nan_integer(f, target) if y is None else y, target))
                byte = f is BF16 and target in ("u8", "s8")  # into a register of 8 bits only
                family.add(f"cvt.{mode}.{ftz}{sat}{target}.{f.name}", "rounded to an integer and clamped",
                           f"cvt.{mode}.{ftz}{sat}{target}.{f.name} {'byte' if byte else 'd'}, a;" + (f"\ncvt.{target[0]}16.{target} d, byte;" if byte else ""),
                           [("d", register(target), out)], extra=["reg .b8 byte;"] if byte else [])
            for mode, ftz, sat in options(("",) + WHOLE, ("", "ftz.") if f is F32 else ("",), ("", "sat.")):
                if f is BF16 and sat:
                    continue

                def whole(x):
                    if ftz:
                        x = f.flush(x)
                    if f.is_nan(x):
                        return nan_of(f)
                    if mode and not f.is_inf(x):
                        x = f.round(Fraction(integral(f.value(x), mode)), "rn", f.negative(x))
                    return x
                name = f"cvt.{mode + '.' if mode else ''}{ftz}{sat}{f.name}.{f.name}"
                # A plain copy may keep a NaN as it is.
                out = [NAN if f.is_nan(x) and not mode and not sat else f_sat(f, whole(x)) if sat else whole(x) for x in a]
                family.add(name, "of the same format", f"{name} d, a;", [("d", f.name, out)])


def between_floats():
    for source, target in ((F16, F32), (BF16, F32), (F16, F64), (BF16, F64), (F32, F64)):
        a = float_samples(source, 20, 305)
        with Family(f"cvt_{source.name}_to_{target.name}", FRACTIONS, [("a", source.name, a)], target="sm_90" if source is BF16 else None) as family:
            # bf16 alone may have a rounding here, which has nothing to round.
            for mode, ftz, sat in options(("", "rn.", "rz.", "rm.", "rp.") if source is BF16 else ("",), ("", "ftz.") if F32 in (source, target) else ("",), ("", "sat.")):
                if source is BF16 and sat:
                    continue
                name = f"cvt.{mode}{ftz}{sat}{target.name}.{source.name}"
                # .ftz speaks of subnormal f32 operands and results; an f16 operand is none.
                out = [convert(source, target, source.flush(x) if ftz and source is F32 else x) for x in a]
                if ftz and target is F32:
                    out = [x if target.is_nan(x) else target.flush(x) for x in out]
                family.add(name, "exact", f"{name} d, a;", [("d", target.name, [f_sat(target, x) if sat else x for x in out])])
    for source, target in ((F32, F16), (F64, F16), (BF16, F16), (F32, BF16), (F64, BF16), (F16, BF16), (F64, F32)):
        a = narrowing_operands(source, target)
        with Family(f"cvt_{source.name}_to_{target.name}", FRACTIONS, [("a", source.name, a)], target="sm_90" if BF16 in (source, target) else None) as family:
            flushes = ("", "ftz.") if F32 in (source, target) else ("",)
            for mode, ftz, sat in options(ROUNDINGS, flushes, ("", "sat.")):
                if BF16 in (source, target) and sat:
                    continue
                name = f"cvt.{mode}.{ftz}{sat}{target.name}.{source.name}"
                operand = [source.flush(x) if ftz and source is F32 else x for x in a]
                out = [convert(source, target, x, mode) for x in operand]
                if ftz and target is F32:
                    out = [x if target.is_nan(x) else target.flush(x) for x in out]
                family.add(name, "one rounding", f"{name} d, a;", [("d", target.name, [f_sat(target, x) if sat else x for x in out])])
            if source is F32:
                for mode, relu, finite in options(("rn", "rz"), ("", "relu."), ("", "satfinite.")):
                    if not relu and not finite:
                        continue
                    name = f"cvt.{mode}.{relu}{finite}{target.name}.{source.name}"
                    family.add(name, "relu: not below zero; satfinite: the largest instead of infinity", f"{name} d, a;",
                               [("d", target.name, [small(target, x, mode, relu, finite) for x in a])],
                               target="sm_90" if finite else None)


def small(target, x, mode, relu, finite):
    """An f32 in a 16-bit format. What -0 becomes with .relu is not said: not compared."""
    if F32.is_nan(x):
        return target.nan
    if relu and F32.negative(x):
        return "_" if x == F32.sign else 0
    y = convert(F32, target, x, mode)
    if finite and target.is_inf(y):
        y = y - 1
    return y


def packed_floats():
    a = narrowing_operands(F32, F16) + narrowing_operands(F32, BF16)[14:]
    a = [x for x in a if x != F32.sign]
    b = a[::-1]
    with Family("cvt_x2_f32", FRACTIONS, [("a", "f32", a), ("b", "f32", b)], target="sm_90") as family:
        for target, mode, relu, finite in options((F16, BF16), ("rn", "rz"), ("", "relu."), ("", "satfinite.")):
            name = f"cvt.{mode}.{relu}{finite}{target.name}x2.f32"
            family.add(name, "a to the upper half", f"{name} d, a, b;",
                       [("d", "b32", [small(target, x, mode, relu, finite) << 16 | small(target, y, mode, relu, finite) for x, y in zip(a, b)])])
    tf32 = [x for x in float_samples(F32, 12, 306)] + [0x3F801000, 0x3F800FFF, 0x3F803000, 0xBF801000, 0xBF801001, 0x7F7FF000, 0x7F7FE000, 0xFF7FFFFF, 0x00000FFF, 0x80001000]
    short = Format("tf32", 19, 10, None)

    def to_tf32(x, mode, relu="", finite=""):
        if F32.is_nan(x):
            return 0x7FFFFFFF & 0xFFFFE000
        if relu and F32.negative(x):
            return "_" if x == F32.sign else 0
        if F32.is_inf(x):
            return x if not finite else (x & F32.sign) | 0x7F7FE000
        y = short.round(F32.value(x), mode, F32.negative(x)) << 13
        if finite and F32.is_inf(y):
            y = (y & F32.sign) | 0x7F7FE000
        return y
    with Family("cvt_tf32_f32", FRACTIONS + "; the low 13 bits of a tf32 are not specified and are masked away", [("a", "f32", tf32)], target="sm_90") as family:
        for mode, finite in options(("rna",), ("", "satfinite.")):
            family.add(f"cvt.{mode}.{finite}tf32.f32", "ties away from zero", f"cvt.{mode}.{finite}tf32.f32 d, a;\nand.b32 d, d, 0xffffe000;",
                       [("d", "b32", [to_tf32(x, mode, "", finite) for x in tf32])])
        for mode, relu in options(("rn", "rz"), ("", "relu.")):
            family.add(f"cvt.{mode}.{relu}tf32.f32", "10 bits", f"cvt.{mode}.{relu}tf32.f32 d, a;\nand.b32 d, d, 0xffffe000;",
                       [("d", "b32", [to_tf32(x, mode, relu) for x in tf32])])
        for mode, relu in options(("rn", "rz"), ("", "relu.")):
            family.add(f"cvt.{mode}.satfinite.{relu}tf32.f32", "10 bits, no infinity", f"cvt.{mode}.satfinite.{relu}tf32.f32 d, a;\nand.b32 d, d, 0xffffe000;",
                       [("d", "b32", [to_tf32(x, mode, relu, "satfinite.") for x in tf32])], target="sm_100a")


# ---- 8-bit floats: the toolkit's header, compiled for the host -------------------------------------------
HOST_FP8 = r"""
#include <cuda_fp8.h>
#include <cstdio>
int main() {
    char kind; unsigned x, format;
    while (scanf(" %c %u %x", &kind, &format, &x) == 3) {
        const auto f = format ? __NV_E5M2 : __NV_E4M3;
        if (kind == 'f') { float v; __builtin_memcpy(&v, &x, 4); printf("%x\n", __nv_cvt_float_to_fp8(v, __NV_SATFINITE, f)); }
        if (kind == 'h') { __half_raw h; h.x = (unsigned short)x; printf("%x\n", __nv_cvt_halfraw_to_fp8(h, __NV_SATFINITE, f)); }
        if (kind == 'r') { __half_raw h = __nv_cvt_fp8_to_halfraw((unsigned char)x, f); printf("%x\n", h.x); }
    }
}
"""


def host_fp8(questions):
    """Answers of cuda_fp8.h's host code to lines `f|h|r FORMAT HEX`."""
    include = os.environ.get("CUDA_INCLUDE", "/usr/local/cuda/include")
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "fp8.cc"), os.path.join(folder, "fp8")
        with open(source, "w") as f:
            f.write(HOST_FP8)
        subprocess.run(["g++", "-O1", "-std=c++17", f"-I{include}", source, "-o", program], check=True)
        run = subprocess.run([program], input="\n".join(questions) + "\n", capture_output=True, text=True, check=True)
    return [int(x, 16) for x in run.stdout.split()]


def narrow_floats():
    source = "cuda_fp8.h of the toolkit, compiled for the host (generate.py); .relu from the ISA's text"
    a = narrowing_operands(F32, Format("e4m3", 8, 3, 0x7F)) + narrowing_operands(F32, Format("e5m2", 8, 2, 0x7F))[14:]
    a = [x for x in a if x != F32.sign]
    h = [x for x in float_samples(F16, 20, 307) + list(range(0x5E00, 0x6000, 0x35)) + list(range(0x0C00, 0x2000, 0x155)) if x != F16.sign]
    if len(h) % 2:
        h.append(0)
    for format, name in enumerate(("e4m3", "e5m2")):
        codes = list(range(256))
        answers = host_fp8([f"f {format} {x:x}" for x in a] + [f"h {format} {x:x}" for x in h] + [f"r {format} {x:x}" for x in codes])
        of_float, of_half, back = answers[:len(a)], answers[len(a):len(a) + len(h)], answers[len(a) + len(h):]
        nan8 = lambda x: x & 0x7F == 0x7F or name == "e5m2" and x & 0x7F > 0x7C
        # The ISA has one NaN for each: 0x7f; the header may keep a sign.
        of_float, of_half = [[0x7F if nan8(y) else y for y in v] for v in (of_float, of_half)]
        back = [F16.nan if F16.is_nan(y) else y for y in back]
        with Family(f"cvt_{name}", source, target="sm_89") as family:
            for relu in ("", "relu."):
                keep8 = lambda y, negative: 0 if relu and negative and not nan8(y) else y
                # .relu of a value that rounds to -0 is not said: not compared
                one = [keep8(y, F32.negative(x)) for x, y in zip(a, of_float)]
                family.add(f"cvt.rn.satfinite.{relu}{name}x2.f32", "a in the upper byte", f"cvt.rn.satfinite.{relu}{name}x2.f32 d, a, b;",
                           [("d", "b16", [x << 8 | y for x, y in zip(one, one[::-1])])], [("a", "f32", a), ("b", "f32", a[::-1])])
                one = [keep8(y, F16.negative(x)) for x, y in zip(h, of_half)]
                family.add(f"cvt.rn.satfinite.{relu}{name}x2.f16x2", "half by half", f"cvt.rn.satfinite.{relu}{name}x2.f16x2 d, a;",
                           [("d", "b16", [x | y << 8 for x, y in zip(one[::2], one[1::2])])], [("a", "b32", [x | y << 16 for x, y in zip(h[::2], h[1::2])])])
                keep16 = lambda y: 0 if relu and F16.negative(y) and not F16.is_nan(y) else y
                family.add(f"cvt.rn.{relu}f16x2.{name}x2", "every code", f"cvt.rn.{relu}f16x2.{name}x2 d, a;",
                           [("d", "b32", [keep16(back[x]) | keep16(back[255 - x]) << 16 for x in codes])], [("a", "b16", [x | (255 - x) << 8 for x in codes])])


def pack():
    r = random.Random(308)
    wide = [0, 1, 0xFFFFFFFF, 127, 128, 255, 256, 0xFFFFFF80, 0xFFFFFF7F, 32767, 32768, 65535, 65536, 0xFFFF8000, 0xFFFF7FFF, 7, 8, 15, 16,
            0xFFFFFFF8, 0xFFFFFFF7, 2, 3, 4, 0xFFFFFFFE, 0xFFFFFFFD, 0x7FFFFFFF, 0x80000000]
    a, b, c = wide, wide[::-1], [r.getrandbits(32) for _ in wide]
    with Family("cvt_pack", "the ISA's text: a above b, below the low bits of c", [("a", "b32", a), ("b", "b32", b), ("c", "b32", c)], target="sm_75") as family:
        for t in ("u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"):
            w = int(t[1:])
            one = lambda x: unsigned(clamp(signed(x, 32), t), w)
            if w == 16:
                family.add(f"cvt.pack.sat.{t}.s32", "two halves", f"cvt.pack.sat.{t}.s32 d, a, b;", [("d", "b32", [one(x) << 16 | one(y) for x, y in zip(a, b)])])
            else:
                family.add(f"cvt.pack.sat.{t}.s32.b32", "and c moves up", f"cvt.pack.sat.{t}.s32.b32 d, a, b, c;",
                           [("d", "b32", [unsigned(z << 2 * w | one(x) << w | one(y), 32) for x, y, z in zip(a, b, c)])])


def write_all():
    between_integers()
    from_floats()
    between_floats()
    packed_floats()
    narrow_floats()
    pack()
