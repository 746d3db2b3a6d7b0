"""Cases that take an instruction through all its types and modifiers: arithmetic, comparison, selection, logic."""
import itertools
import math
import random
import struct
from fractions import Fraction

from arithmetic_cases import INTEGER_COMPARE, float_compare, float_samples, integer_pairs, integer_samples, pairs, triples
from case_writer import Family, slug
from exact import *

FRACTIONS = "Python's integers and exact fractions (exact.py)"
FLOAT_COMPARE = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
ROUNDINGS = ("rn", "rz", "rm", "rp")


def options(*choices):
    """Every combination, as tuples of texts."""
    return itertools.product(*[c if isinstance(c, tuple) else (c,) for c in choices])


def short(values, n=26):
    """The special values at the front and some of the rest."""
    return values if len(values) <= n else values[:14] + values[14:][::max(1, (len(values) - 14) // (n - 14))][:n - 14]


def some_pairs(f, seed, n=30):
    a, b = pairs(f, seed)
    keep = list(range(16)) + list(range(16, len(a)))[::max(1, (len(a) - 16) // (n - 16))]
    # subnormal operands and results, with every sign
    low = 1 << f.mantissa
    a = [a[i] for i in keep] + [3, f.sign | 5, low, f.sign | low + 1, low + 2]
    b = [b[i] for i in keep] + [low, low + 7, f.sign | low + 1, low, f.bias - 1 << f.mantissa]
    return a, b


def some_triples(f, seed, n=34):
    a, b, c = triples(f, seed)
    keep = list(range(0, len(a), max(1, len(a) // n)))
    low = 1 << f.mantissa
    one = f.bias << f.mantissa
    return ([a[i] for i in keep] + [3, low, one, f.sign | one], [b[i] for i in keep] + [one, f.bias - 2 << f.mantissa, low, low + 3],
            [c[i] for i in keep] + [low, 0, f.sign | low + 1, 9])


def packed(values):
    if len(values) % 2:
        values = values + [0]
    return [x | y << 16 for x, y in zip(values[::2], values[1::2])]


def finish(f, x, sat="", relu=""):
    if sat:
        return f_sat(f, x)
    if relu:
        return x if x == NAN or f.is_nan(x) else 0 if f.negative(x) else x
    return x


# ---- integers ------------------------------------------------------------------------------------------
def integers():
    a, b = integer_pairs(32, 203)
    c = a[::-1]
    clamp = lambda v: unsigned(min(max(v, -(1 << 31)), (1 << 31) - 1), 32)
    with Family("integer_forms", FRACTIONS, [("a", "b32", a), ("b", "b32", b), ("c", "b32", c)]) as family:
        for t in ("u32", "s32"):
            v = (lambda x: signed(x, 24)) if t == "s32" else (lambda x: x & 0xFFFFFF)
            family.add(f"mad24.hi.{t}", "bits 16 to 47 of the 24-bit product, plus c", f"mad24.hi.{t} d, a, b, c;",
                       [("d", "b32", [unsigned((v(x) * v(y) >> 16) + z, 32) for x, y, z in zip(a, b, c)])])
        family.add("mad24.hi.sat.s32", "clamped", "mad24.hi.sat.s32 d, a, b, c;",
                   [("d", "b32", [clamp((signed(x, 24) * signed(y, 24) >> 16) + signed(z, 32)) for x, y, z in zip(a, b, c)])])
        for op, f in (("min", min), ("max", max)):
            family.add(f"{op}.relu.s32", "not below zero", f"{op}.relu.s32 d, a, b;",
                       [("d", "b32", [max(0, f(signed(x, 32), signed(y, 32))) for x, y in zip(a, b)])], target="sm_90")
            half = lambda x, y, s: max(0, f(signed(x >> s, 16), signed(y >> s, 16))) << s
            family.add(f"{op}.relu.s16x2", "not below zero, in each half", f"{op}.relu.s16x2 d, a, b;",
                       [("d", "b32", [half(x, y, 0) | half(x, y, 16) for x, y in zip(a, b)])], target="sm_90")
        r = random.Random(204)
        n = [r.choice([0, 1, 8, 16, 31, 32, 33, 40, 255, 1 << 31]) for _ in a]
        for mode, t in options(("clamp", "wrap"), ("u32", "s32")):
            def extend(x, n):
                n = n & 31 if mode == "wrap" else min(n, 32)
                return unsigned(signed(x, n) if t == "s32" and n else x & (1 << n) - 1, 32)
            family.add(f"szext.{mode}.{t}", "the low n bits, extended", f"szext.{mode}.{t} d, a, n;",
                       [("d", "b32", [extend(x, k) for x, k in zip(a, n)])], [("n", "b32", n)])

        def nth(mask, base, offset):
            if offset == 0:
                return base if mask >> base & 1 else 0xFFFFFFFF
            step, count, at = (1 if offset > 0 else -1), abs(offset), base
            while 0 <= at < 32:
                count -= mask >> at & 1
                if count == 0:
                    return at
                at += step
            return 0xFFFFFFFF
        base = [r.randrange(32) for _ in a]
        offset = [r.choice([0, 1, -1, 2, -2, 3, -5, 9, -12, 31, 40]) for _ in a]
        family.add("fns.b32", "the n-th set bit from a base, up or down", "fns.b32 d, a, p, o;",
                   [("d", "b32", [nth(x, p, o) for x, p, o in zip(a, base, offset)])],
                   [("p", "b32", base), ("o", "b32", [unsigned(x, 32) for x in offset])])
    for w in (32, 64):
        a, b = integer_pairs(w, 205)
        c = a[::-1]
        e = b[::-1]
        full = 1 << w
        with Family(f"carry_forms_{w}", FRACTIONS, [(n, f"b{w}", v) for n, v in (("a", a), ("b", b), ("c", c), ("e", e))]) as family:
            out = lambda *v: [(n, f"b{w}", [unsigned(x, w) for x in values]) for n, values in zip("dfg", v)]
            for t in (f"u{w}", f"s{w}"):
                s = lambda x: typed(x, t)
                total = [x + y for x, y in zip(a, b)]
                family.add(f"add.cc.{t}", "the carry is seen by addc", f"add.cc.{t} d, a, b;\naddc.cc.{t} f, c, e;\naddc.{t} g, c, c;",
                           out(total, [z + q + (x >> w) for z, q, x in zip(c, e, total)],
                               [2 * z + (z + q + (x >> w) >> w) for z, q, x in zip(c, e, total)]))
                borrow = [int(x < y) for x, y in zip(a, b)]
                borrow2 = [int(z - q - k < 0) for z, q, k in zip(c, e, borrow)]
                family.add(f"sub.cc.{t}", "the borrow is seen by subc", f"sub.cc.{t} d, a, b;\nsubc.cc.{t} f, c, e;\nsubc.{t} g, a, e;",
                           out([x - y for x, y in zip(a, b)], [z - q - k for z, q, k in zip(c, e, borrow)],
                               [x - q - k for x, q, k in zip(a, e, borrow2)]))
                for part, half in (("lo", lambda x, y: unsigned(x * y, w)), ("hi", lambda x, y: unsigned(s(x) * s(y) >> w, w))):
                    first = [half(x, y) + z for x, y, z in zip(a, b, c)]
                    second = [half(x, z) + q + (k >> w) for x, z, q, k in zip(a, c, e, first)]
                    third = [half(y, z) + x + (k >> w) for y, z, x, k in zip(b, c, a, second)]
                    family.add(f"mad.{part}.cc.{t}", "the carry of the sum goes on",
                               f"mad.{part}.cc.{t} d, a, b, c;\nmadc.{part}.cc.{t} f, a, c, e;\nmadc.{part}.{t} g, b, c, a;",
                               out(first, second, third))


# ---- floating point ------------------------------------------------------------------------------------
def floats():
    for f in (F32, F64):
        t = f.name
        one = f.bias << f.mantissa
        flushes, clamps = (("", "ftz"), ("", "sat")) if f is F32 else (("",), ("",))
        join = lambda op, *parts: ".".join([op] + [p for p in parts if p] + [t])
        a, b = some_pairs(f, 211)
        with Family(f"binary_{t}", FRACTIONS, [("a", t, a), ("b", t, b)]) as family:
            for (op, g), mode, ftz, sat in options((("add", f_add), ("sub", f_sub), ("mul", f_mul)), ("",) + ROUNDINGS, flushes, clamps):
                family.add(join(op, mode, ftz, sat), "every operand and result", f"{join(op, mode, ftz, sat)} d, a, b;",
                           [("d", t, [finish(f, g(f, x, y, mode or "rn", bool(ftz)), sat) for x, y in zip(a, b)])])
            for mode, ftz in options(ROUNDINGS, flushes):
                family.add(join("div", mode, ftz), "one rounding", f"{join('div', mode, ftz)} d, a, b;",
                           [("d", t, [f_div(f, x, y, mode, bool(ftz)) for x, y in zip(a, b)])])
            for op, ftz, nan, xorsign in options(("min", "max"), flushes, ("", "NaN"), ("", "xorsign.abs")) if f is F32 else ():
                def pick(x, y):
                    if ftz:
                        x, y = f.flush(x), f.flush(y)
                    if not xorsign:
                        return f_minmax(f, x, y, op == "max", bool(nan))
                    m = f_minmax(f, x & ~f.sign, y & ~f.sign, op == "max", bool(nan))
                    return m if m == NAN or f.is_nan(m) else m & ~f.sign | (x ^ y) & f.sign
                family.add(join(op, ftz, nan, xorsign), "NaN, signs and subnormal operands", f"{join(op, ftz, nan, xorsign)} d, a, b;",
                           [("d", t, [pick(x, y) for x, y in zip(a, b)])], target="sm_86" if xorsign else None)
        a, b, c = some_triples(f, 212)
        with Family(f"fma_{t}", FRACTIONS, [("a", t, a), ("b", t, b), ("c", t, c)]) as family:
            for op, mode, ftz, sat in options(("fma", "mad"), ROUNDINGS, flushes, clamps):
                family.add(join(op, mode, ftz, sat), "one rounding of the exact a b + c", f"{join(op, mode, ftz, sat)} d, a, b, c;",
                           [("d", t, [finish(f, f_fma(f, x, y, z, mode, bool(ftz)), sat) for x, y, z in zip(a, b, c)])])
        a = float_samples(f, 24, 213) + [1, f.sign | 1, (1 << f.mantissa) - 1]
        with Family(f"unary_{t}", FRACTIONS, [("a", t, a)]) as family:
            for mode, ftz in options(ROUNDINGS, flushes):
                family.add(join("rcp", mode, ftz), "one rounding", f"{join('rcp', mode, ftz)} d, a;",
                           [("d", t, [f_div(f, one, x, mode, bool(ftz)) for x in a])])
                family.add(join("sqrt", mode, ftz), "one rounding", f"{join('sqrt', mode, ftz)} d, a;",
                           [("d", t, [f_sqrt(f, x, mode, bool(ftz)) for x in a])])
            for (op, g), ftz in options((("abs", lambda x: x & ~f.sign), ("neg", lambda x: x ^ f.sign)), flushes):
                family.add(join(op, ftz), "the sign alone; of a NaN any NaN", f"{join(op, ftz)} d, a;",
                           [("d", t, [NAN if f.is_nan(x) else g(f.flush(x) if ftz else x) for x in a])])


def of_f32(x):
    return struct.unpack("<f", struct.pack("<I", x))[0]


def of_f64(x):
    return struct.unpack("<d", struct.pack("<Q", x))[0]


def approximations():
    """The documented error of each, and its documented special values."""
    source = "Python's math in double, the ISA's tables of errors and of special values"
    r = random.Random(221)
    f32 = lambda x: F32.round(Fraction(x), "rn")
    inf, ninf, nan = 0x7F800000, 0xFF800000, 0x7FC00000
    tiny = 0x00000005  # subnormal
    spread = [f32(s * 2.0 ** r.uniform(-12, 12)) for s in (1, -1) for _ in range(10)] + [f32(x) for x in (0.5, 1.0, 2.0, 3.0)]
    positive = [x & 0x7FFFFFFF for x in spread] + [f32(2.0 ** r.randrange(-120, 120) * 1.37) for _ in range(8)]
    inside = [f32(r.uniform(-math.pi, math.pi)) for _ in range(24)]
    exponents = [f32(r.uniform(-30, 30)) for _ in range(24)]

    def value(g, x):
        y = g(of_f32(x))
        return f32(y)
    table = [("rcp", spread, lambda x: 1 / x, "ulp 1", [(0, inf), (1 << 31, ninf), (inf, 0), (ninf, 1 << 31), (nan, NAN)], (tiny, inf)),
             ("sqrt", positive, math.sqrt, "ulp 2", [(0, 0), (1 << 31, 1 << 31), (inf, inf), (f32(-1.0), NAN), (ninf, NAN), (nan, NAN)], (tiny, 0)),
             ("rsqrt", positive, lambda x: 1 / math.sqrt(x), "ulp 2", [(0, inf), (1 << 31, ninf), (inf, 0), (f32(-1.0), NAN), (ninf, NAN), (nan, NAN)], (tiny, inf)),
             ("sin", inside, math.sin, "abs 6.8e-7", [(0, 0), (1 << 31, 1 << 31), (inf, NAN), (ninf, NAN), (nan, NAN)], (tiny, 0)),
             ("cos", inside, math.cos, "abs 6.8e-7", [(0, 0x3F800000), (1 << 31, 0x3F800000), (inf, NAN), (ninf, NAN), (nan, NAN)], (tiny, 0x3F800000)),
             ("lg2", [x for x in positive if not 0.5 <= of_f32(x) <= 2], math.log2, "ulp 4",
              [(0, ninf), (1 << 31, ninf), (inf, inf), (f32(-1.0), NAN), (ninf, NAN), (nan, NAN), (0x3F800000, 0)], (tiny, ninf)),
             ("ex2", exponents, lambda x: 2.0 ** x, "ulp 2", [(0, 0x3F800000), (1 << 31, 0x3F800000), (inf, inf), (ninf, 0), (nan, NAN)], (tiny, 0x3F800000))]
    with Family("approx_f32", source) as family:
        for (op, xs, g, tolerance, special, flushed), ftz in options(tuple(table), ("", "ftz")):
            name = f"{op}.approx.{'ftz.' if ftz else ''}f32"
            special = special + ([flushed] if ftz else [])
            text = "within the documented error; special values exactly; .ftz: a subnormal operand is a zero" if ftz else "within the documented error; special values exactly"
            # A zero or an infinity within the tolerance of nothing but itself.
            family.add(name, text, f"{name} d, a;", [("d", "f32", [value(g, x) for x in xs] + [y for _, y in special], tolerance)],
                       [("a", "f32", xs + [x for x, _ in special])])
        xs, ys = [f32(r.uniform(-9, 9)) for _ in range(20)], [f32(r.choice((-1, 1)) * 2.0 ** r.uniform(-9, 9)) for _ in range(20)]
        quotients = [f32(Fraction(of_f32(x)) / Fraction(of_f32(y))) for x, y in zip(xs, ys)]
        special = [(0, 0, NAN), (inf, inf, NAN), (f32(1.0), 0, inf), (f32(-1.0), 0, ninf), (inf, f32(-2.0), ninf), (f32(3.0), inf, 0), (nan, f32(1.0), NAN)]
        # 2^126 < |b|: .approx gives zero (or NaN for an infinite a), .full scales
        for op, ftz in options(("approx", "full"), ("", "ftz")):
            name = f"div.{op}.{'ftz.' if ftz else ''}f32"
            huge = [(f32(2.0 ** 127), f32(2.0 ** 127 * 1.5), 0 if op == "approx" else f32(2 / 3)),
                    (inf, f32(2.0 ** 127), NAN if op == "approx" else inf)]
            flushed = [(tiny, f32(1.0), 0), (f32(1.0), tiny, inf)] if ftz else []
            rows = special + huge + flushed
            family.add(name, "two units in the last place, and the documented special values", f"{name} d, a, b;",
                       [("d", "f32", quotients + [z for _, _, z in rows], "ulp 2")],
                       [("a", "f32", xs + [x for x, _, _ in rows]), ("b", "f32", ys + [y for _, y, _ in rows])])
        name = "tanh.approx.f32"
        xs = [f32(r.uniform(-4, 4)) for _ in range(20)]
        rows = [(0, 0), (1 << 31, 1 << 31), (inf, 0x3F800000), (ninf, 0xBF800000), (nan, NAN)]
        family.add(name, "2^-11 relative", f"{name} d, a;", [("d", "f32", [value(math.tanh, x) for x in xs] + [y for _, y in rows], "ulp 8192")],
                   [("a", "f32", xs + [x for x, _ in rows])])
    f64 = lambda x: F64.round(Fraction(x), "rn")
    inf, ninf, nan = F64.inf, F64.inf | F64.sign, F64.inf | 1 << 51
    xs = [f64(2.0 ** r.uniform(-60, 60)) for _ in range(20)]
    with Family("approx_f64", source) as family:
        # 2^-20 relative is 2^32 units in the last place; the lower word is zero.
        rows = [(0, inf), (F64.sign, ninf), (inf, 0), (ninf, F64.sign), (nan, NAN), (5, inf)]
        family.add("rcp.approx.ftz.f64", "20 bits", "rcp.approx.ftz.f64 d, a;\nmov.b64 {low, high}, d;",
                   [("d", "f64", [F64.round(1 / F64.value(x), "rn") for x in xs] + [y for _, y in rows], "ulp 4294967296"),
                    ("low", "b32", [0] * (len(xs) + 4) + ["_", 0])], [("a", "f64", xs + [x for x, _ in rows])], ["reg .b32 high;"])
        rows = [(0, inf), (F64.sign, ninf), (inf, 0), (ninf, NAN), (nan, NAN), (5, inf), (f64(-2.0), NAN)]
        family.add("rsqrt.approx.ftz.f64", "20 bits", "rsqrt.approx.ftz.f64 d, a;",
                   [("d", "f64", [f_div(F64, f64(1), f_sqrt(F64, x)) for x in xs] + [y for _, y in rows], "ulp 4294967296")],
                   [("a", "f64", xs + [x for x, _ in rows])])
        rows = [(0, inf), (F64.sign, ninf), (inf, 0), (ninf, NAN), (nan, NAN), (f64(-2.0), NAN)]
        family.add("rsqrt.approx.f64", "two units in the last place", "rsqrt.approx.f64 d, a;",
                   [("d", "f64", [f_div(F64, f64(1), f_sqrt(F64, x)) for x in xs] + [y for _, y in rows], "ulp 2")],
                   [("a", "f64", xs + [x for x, _ in rows])])
    xs = [r.uniform(-3, 3) for _ in range(20)] + [0.0, 0.5, 1.0, -1.0]
    for f, target in ((F16, None), (BF16, "sm_90")):
        h = [f.round(Fraction(x), "rn") for x in xs] + [f.sign, f.inf, f.inf | f.sign, f.nan]
        ends = {"tanh": [f.sign, f.bias << f.mantissa, f.sign | f.bias << f.mantissa, NAN], "ex2": [f.bias << f.mantissa, f.inf, 0, NAN]}
        with Family(f"approx_{f.name}", source) as family:
            for op, g in (("tanh", math.tanh), ("ex2", lambda x: 2.0 ** x)):
                ftz = ".ftz" if op == "ex2" and f is BF16 else ""
                # tanh: 2^-10.987 and 2^-8; ex2: 2^-9.9 and 2^-7, relative or at most 1: two units of a 1, and rounding.
                tolerance = "ulp 2" if op == "ex2" else "ulp 2"
                out = [f.round(Fraction(g(float(f.value(x)))), "rn") for x in h[:len(xs)]] + ends[op]
                name = f"{op}.approx{ftz}.{f.name}"
                family.add(name, "within the documented error", f"{name} d, a;", [("d", f.name, out, tolerance)], [("a", f.name, h)], target=target)
                name += "x2"
                family.add(name, "both halves; the words are taken apart so that each has its tolerance",
                           f"mov.b32 word, {{a, b}};\n{name} word, word;\nmov.b32 {{d, e}}, word;",
                           [("d", f.name, out, tolerance), ("e", f.name, out[::-1], tolerance)],
                           [("a", f.name, h), ("b", f.name, h[::-1])], ["reg .b32 word;"], target)


# ---- half precision ------------------------------------------------------------------------------------
def halves():
    for f in (F16, BF16):
        bf = f is BF16
        target = "sm_90" if bf else "sm_80"
        flushes = ("",) if bf else ("", "ftz")
        finishes = ("",) if bf else ("", "sat")
        a, b = some_pairs(f, 231)
        ta, tb, tc = some_triples(f, 232)
        pack2 = lambda v: [(v + [0])[i] | (v + [0])[i + 1] << 16 for i in range(0, len(v), 2)]
        for n in (1, 2):
            t = f.name + ("x2" if n == 2 else "")
            shape = (lambda v: v) if n == 1 else pack2
            rt = t if n == 1 else "b32"
            join = lambda op, *parts: ".".join([op] + [p for p in parts if p] + [t])

            # The number of pairs is even: a word holds two.
            def column(v):
                v = v if len(v) % 2 == 0 else v + [v[0]]
                return shape(v)
            with Family(f"binary_{t}", FRACTIONS, [("a", rt, column(a)), ("b", rt, column(b))], target=target) as family:
                for (op, g), mode, ftz, sat in options((("add", f_add), ("sub", f_sub), ("mul", f_mul)), ("", "rn"), flushes, finishes):
                    name = join(op, mode, ftz, sat)
                    family.add(name, "to nearest even", f"{name} d, a, b;",
                               [("d", rt, column([finish(f, g(f, x, y, "rn", bool(ftz)), sat) for x, y in zip(a, b)]))])
                for op, ftz, nan, xorsign in options(("min", "max"), flushes, ("", "NaN"), ("", "xorsign.abs")):
                    def pick(x, y):
                        if ftz:
                            x, y = f.flush(x), f.flush(y)
                        if not xorsign:
                            return f_minmax(f, x, y, op == "max", bool(nan))
                        m = f_minmax(f, x & ~f.sign, y & ~f.sign, op == "max", bool(nan))
                        return m if f.is_nan(m) else m & ~f.sign | (x ^ y) & f.sign
                    name = join(op, ftz, nan, xorsign)
                    family.add(name, "NaN, signs and subnormal operands", f"{name} d, a, b;",
                               [("d", rt, column([pick(x, y) for x, y in zip(a, b)]))], target="sm_86" if xorsign and not bf else None)
                numbers = [x for x in a if not f.is_nan(x)]
                for (op, g), ftz in options((("abs", lambda x: x & ~f.sign), ("neg", lambda x: x ^ f.sign)), flushes):
                    name = join(op, ftz)
                    family.add(name, "the sign alone", f"{name} d, h;", [("d", rt, (column([g(f.flush(x) if ftz else x) for x in numbers] * 2))[:len(column(a))])],
                               [("h", rt, column(numbers * 2)[:len(column(a))])])
            with Family(f"fma_{t}", FRACTIONS, [("a", rt, column(ta)), ("b", rt, column(tb)), ("c", rt, column(tc))], target=target) as family:
                for ftz, end in options(flushes, ("", "relu") if bf else ("", "sat", "relu")):
                    name = join("fma.rn", ftz, end)
                    family.add(name, "one rounding of the exact a b + c", f"{name} d, a, b, c;",
                               [("d", rt, column([finish(f, f_fma(f, x, y, z, "rn", bool(ftz)), end == "sat", end == "relu") for x, y, z in zip(ta, tb, tc)]))])


# ---- comparison and selection --------------------------------------------------------------------------
BOOL = {"and": lambda x, y: x and y, "or": lambda x, y: x or y, "xor": lambda x, y: x != y}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
WORD = {"u32": ("b32", 0xFFFFFFFF), "s32": ("b32", 0xFFFFFFFF), "u16": ("b16", 0xFFFF), "s16": ("b16", 0xFFFF),
        "f32": ("f32", 0x3F800000), "f16": ("f16", 0x3C00), "bf16": ("bf16", 0x3F80)}


def compare_operands(t):
    """Two columns, the operators of the type, and compare(op, x, y, ftz)."""
    if t in FORMATS:
        f = FORMATS[t]
        a, b = some_pairs(f, 241, 24)
        for i in (2, 5, 9, 15):
            b[i] = a[i]
        return a, b, FLOAT_COMPARE, lambda op, x, y, ftz: float_compare(f, op, x, y, bool(ftz))
    w = int(t[1:])
    a, b = integer_pairs(w, 242)
    a, b = a[:12] + a[-6:], b[:12] + b[-6:]
    b[3], b[4] = a[3], a[4]
    operators = ("eq", "ne") if t[0] == "b" else tuple(INTEGER_COMPARE) + (tuple(UNSIGNED) if t[0] == "u" else ())
    return a, b, operators, lambda op, x, y, ftz: INTEGER_COMPARE[UNSIGNED.get(op, op)](typed(x, t), typed(y, t))


def comparisons():
    types = ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64", "f16", "bf16")
    for t in types:
        a, b, operators, compare = compare_operands(t)
        c = [(i * 5 >> 1) & 1 for i in range(len(a))]
        flushes = ("", "ftz") if t in ("f32", "f16") else ("",)
        target = "sm_90" if t == "bf16" else None
        ins = [("a", t if t in FORMATS else "b" + t[1:], a), ("b", t if t in FORMATS else "b" + t[1:], b), ("c", "pred", c)]
        join = lambda *parts: ".".join(p for p in parts if p)
        with Family(f"setp_{t}", FRACTIONS, ins, target=target) as family:
            truth = lambda op, ftz: [bool(compare(op, x, y, ftz)) for x, y in zip(a, b)]
            for op, ftz in options(operators, flushes):
                name = join("setp", op, ftz, t)
                family.add(name, "p", f"{name} p, a, b;", [("p", "pred", [int(x) for x in truth(op, ftz)])])
            both = t not in ("f16", "bf16")
            for i, (how, ftz) in enumerate(options(tuple(BOOL), flushes)):
                op = operators[(3 * i + 2) % len(operators)]
                f, v = BOOL[how], truth(op, ftz)
                name = join("setp", op, how, ftz, t)
                if both:
                    family.add(name, "p combined with c, q the complement combined with c", f"{name} p|q, a, b, c;",
                               [("p", "pred", [int(f(x, bool(z))) for x, z in zip(v, c)]), ("q", "pred", [int(f(not x, bool(z))) for x, z in zip(v, c)])])
                else:
                    family.add(name, "combined with c", f"{name} p, a, b, c;", [("p", "pred", [int(f(x, bool(z))) for x, z in zip(v, c)])])
                family.add(name + "_not", "combined with !c", f"{name} p, a, b, !c;", [("p", "pred", [int(f(x, not z)) for x, z in zip(v, c)])])
            if both:
                v = truth(operators[1], "")
                name = join("setp", operators[1], t)
                family.add(name + "_pair", "and the complement", f"{name} p|q, a, b;", [("p", "pred", [int(x) for x in v]), ("q", "pred", [int(not x) for x in v])])
        # set: a register instead of a predicate
        results = {"f16": ("u16", "s16", "u32", "s32", "f16", "bf16"), "bf16": ("u16", "s16", "u32", "s32", "bf16")}.get(t, ("u32", "s32", "f32", "f16", "bf16"))
        with Family(f"set_{t}", FRACTIONS, ins, target="sm_90") as family:
            truth = lambda op, ftz: [bool(compare(op, x, y, ftz)) for x, y in zip(a, b)]
            for d, op, ftz in options(results, operators, flushes):
                if d == "bf16" and ftz or d in ("f16", "bf16") and op in UNSIGNED:
                    continue
                name = join("set", op, ftz, d, t)
                register, yes = WORD[d]
                family.add(name, "all ones, or 1.0, where it holds", f"{name} d, a, b;", [("d", register, [yes * x for x in truth(op, ftz)])])
            for i, (how, d) in enumerate(options(tuple(BOOL), results[:2])):
                op = operators[(5 * i + 1) % len(operators)]
                f = BOOL[how]
                register, yes = WORD[d]
                name = join("set", op, how, d, t)
                family.add(name, "combined with c", f"{name} d, a, b, c;", [("d", register, [yes * bool(f(x, bool(z))) for x, z in zip(truth(op, ""), c)])])
    for f in (F16, BF16):
        a, b = some_pairs(f, 243, 24)
        if len(a) % 2:
            a, b = a + [0], b + [0]
        t = f.name + "x2"
        n = len(a) // 2
        c = [(i * 5 >> 1) & 1 for i in range(n)]
        flushes = ("", "ftz") if f is F16 else ("",)
        with Family(f"compare_{t}", FRACTIONS, [("a", "b32", packed(a)), ("b", "b32", packed(b)), ("c", "pred", c)], target="sm_90") as family:
            join = lambda *parts: ".".join(p for p in parts if p)
            truth = lambda op, ftz, k: [float_compare(f, op, x, y, bool(ftz)) for x, y in zip(a[k::2], b[k::2])]
            for op, ftz in options(FLOAT_COMPARE, flushes):
                name = join("setp", op, ftz, t)
                family.add(name, "p of the lower halves, q of the upper", f"{name} p|q, a, b;",
                           [("p", "pred", [int(x) for x in truth(op, ftz, 0)]), ("q", "pred", [int(x) for x in truth(op, ftz, 1)])])
            for i, how in enumerate(BOOL):
                g, op = BOOL[how], FLOAT_COMPARE[4 * i + 2]
                name = join("setp", op, how, t)
                family.add(name, "both combined with c", f"{name} p|q, a, b, c;",
                           [(r, "pred", [int(g(bool(x), bool(z))) for x, z in zip(truth(op, "", k), c)]) for k, r in ((0, "p"), (1, "q"))])
                name = join("set", op, how, "u32", t)
                words = [int(bool(g(bool(x), bool(z)))) * 0xFFFF | int(bool(g(bool(y), bool(z)))) * 0xFFFF0000
                         for x, y, z in zip(truth(op, "", 0), truth(op, "", 1), c)]
                family.add(name, "both combined with c", f"{name} d, a, b, c;", [("d", "b32", words)])
            for d, op, ftz in options((t, "u32", "s32"), FLOAT_COMPARE, flushes):
                yes = (0x3C00 if f is F16 else 0x3F80) if d == t else 0xFFFF
                name = join("set", op, ftz, d, t)
                family.add(name, "in each half all ones, or 1.0", f"{name} d, a, b;",
                           [("d", "b32", [yes * x | (yes * y) << 16 for x, y in zip(truth(op, ftz, 0), truth(op, ftz, 1))])])


def selections():
    for w in (16, 32, 64):
        a, b = integer_pairs(w, 251)
        n = len(a)
        c = [(i * 7 >> 1) & 1 for i in range(n)]
        s = (integer_samples(32, 252) * 2)[:n]
        s[0] = 0
        g = (float_samples(F32, 24, 253) * 2)[:n]
        with Family(f"select_{w}", FRACTIONS, [("a", f"b{w}", a), ("b", f"b{w}", b), ("c", "pred", c), ("s", "b32", s), ("g", "f32", g)]) as family:
            # c >= 0: -0 is; a NaN is not
            chosen = lambda x, ftz: not F32.is_nan(x) and (not F32.negative(x) or (F32.flush(x) if ftz else x) == F32.sign)
            for t in (f"b{w}", f"u{w}", f"s{w}") + ((f"f{w}",) if w > 16 else ()):
                family.add(f"selp.{t}", "a where c holds", f"selp.{t} d, a, b, c;", [("d", f"b{w}", [x if z else y for x, y, z in zip(a, b, c)])])
                family.add(f"slct.{t}.s32", "a where s >= 0", f"slct.{t}.s32 d, a, b, s;",
                           [("d", f"b{w}", [x if signed(z, 32) >= 0 else y for x, y, z in zip(a, b, s)])])
                for ftz in ("", "ftz."):
                    family.add(f"slct.{ftz}{t}.f32", "a where g >= 0, -0 included; a NaN chooses b", f"slct.{ftz}{t}.f32 d, a, b, g;",
                               [("d", f"b{w}", [x if chosen(z, ftz) else y for x, y, z in zip(a, b, g)])])


def logic():
    with Family("predicates", FRACTIONS, [("a", "pred", [0, 0, 1, 1]), ("b", "pred", [0, 1, 0, 1])]) as family:
        for op, f in (("and", lambda x, y: x & y), ("or", lambda x, y: x | y), ("xor", lambda x, y: x ^ y)):
            family.add(f"{op}.pred", op, f"{op}.pred p, a, b;", [("p", "pred", [f(x, y) for x, y in ((0, 0), (0, 1), (1, 0), (1, 1))])])
        family.add("not.pred", "not", "not.pred p, a;", [("p", "pred", [1, 1, 0, 0])])
        family.add("mov.pred", "a copy", "mov.pred p, b;", [("p", "pred", [0, 1, 0, 1])])
    for w in (16, 32, 64):
        a = integer_samples(w, 261)
        r = random.Random(w)
        n = [r.choice([0, 1, 7, w - 1, w, w + 1, 100, 0xFFFFFFFF, 1 << 31]) for _ in a]
        with Family(f"shift_{w}", FRACTIONS, [("a", f"b{w}", a), ("n", "b32", n)]) as family:
            family.add(f"shr.b{w}", "bits shift in as zeros", f"shr.b{w} d, a, n;", [("d", f"b{w}", [x >> min(k, w) for x, k in zip(a, n)])])
    a, b = integer_pairs(32, 262)
    c = a[::-1]
    q = [i % 3 == 0 for i in range(len(a))]
    with Family("lop3_predicate", "the ISA's text: p = (d != 0) combined with q", [("a", "b32", a), ("b", "b32", b), ("c", "b32", c), ("q", "pred", [int(x) for x in q])],
                target="sm_80") as family:
        for how, lut in options(("or", "and"), (0x80, 0x96, 0x00)):
            f = BOOL[how]
            word = [sum((lut >> ((x >> i & 1) << 2 | (y >> i & 1) << 1 | (z >> i & 1)) & 1) << i for i in range(32)) for x, y, z in zip(a, b, c)]
            family.add(f"lop3.{how}.b32_{lut:02x}", "word and predicate", f"lop3.{how}.b32 d|p, a, b, c, 0x{lut:x}, q;",
                       [("d", "b32", word), ("p", "pred", [int(f(x != 0, z)) for x, z in zip(word, q)])])
            family.add(f"lop3.{how}.b32_{lut:02x}_not", "with !q, the word unused", f"lop3.{how}.b32 _|p, a, b, c, 0x{lut:x}, !q;",
                       [("p", "pred", [int(f(x != 0, not z)) for x, z in zip(word, q)])])


def write_all():
    integers()
    floats()
    approximations()
    halves()
    comparisons()
    selections()
    logic()
