"""Cases of arithmetic, comparison and conversion instructions."""
import random
from fractions import Fraction

from case_writer import case, slug, two
from exact import *


# ---- inputs --------------------------------------------------------------------------------------------
def float_samples(f, count=24, seed=1):
    r = random.Random(f"{f.name}{seed}")
    one = f.bias << f.mantissa
    special = [0, f.sign, one, f.sign | one, f.inf, f.sign | f.inf, f.inf | (1 << (f.mantissa - 1)), 1,
               f.sign | ((1 << f.mantissa) - 1), f.largest, f.sign | f.largest, 1 << f.mantissa, one + 1, one - 1]
    near = [(r.randrange(2) * f.sign) | ((f.bias - 3 + r.randrange(8)) << f.mantissa) | r.randrange(1 << f.mantissa)
            for _ in range(count)]
    low = [(r.randrange(2) * f.sign) | r.randrange(4 << f.mantissa) for _ in range(6)]
    return special + near + low


def pairs(f, seed=1):
    a = float_samples(f, seed=seed)
    r = random.Random(seed)
    b = float_samples(f, seed=seed + 1)
    r.shuffle(b)
    extra_a = [0, f.sign, f.inf, f.sign | f.inf, 0, 1 << f.mantissa, 5 << f.mantissa]
    extra_b = [f.sign, f.sign, f.sign | f.inf, f.sign | f.inf, 0, f.sign | (1 << f.mantissa) | 1, f.sign | (5 << f.mantissa)]
    return a + extra_a, b + extra_b


def triples(f, seed=1):
    a, b = pairs(f, seed)
    r = random.Random(seed + 7)
    c = float_samples(f, seed=seed + 2)
    r.shuffle(c)
    c = (c + c)[:len(a)]
    # a b - a b exactly or nearly: what an unfused product would lose
    for i in range(16, 28):
        if not any(f.is_nan(x) or f.is_inf(x) for x in (a[i], b[i])):
            p = f_mul(f, a[i], b[i])
            if not f.is_inf(p):
                c[i] = f_neg(f, p)
    return a, b, c


def integer_samples(width, seed=1, count=14):
    r = random.Random(f"i{width}{seed}")
    top = 1 << (width - 1)
    return [0, 1, 2, (1 << width) - 1, top, top - 1, top + 1, 7, unsigned(-7, width)] + \
        [r.getrandbits(width) for _ in range(count)] + [r.getrandbits(width // 2) for _ in range(4)]


def integer_pairs(width, seed=1):
    a = integer_samples(width, seed)
    b = integer_samples(width, seed + 1)
    random.Random(seed).shuffle(b)
    top = 1 << (width - 1)
    full = (1 << width) - 1
    return a + [top, top, full, full, 0], b + [full, top, full, top, full]


# ---- integer arithmetic --------------------------------------------------------------------------------
def integers():
    for t in ("u16", "s16", "u32", "s32", "u64", "s64"):
        w = int(t[1:])
        a, b = integer_pairs(w, 3)
        c = list(reversed(a))
        bits = f"b{w}"

        def both(f, t=t, w=w):
            return lambda x, y: unsigned(f(typed(x, t), typed(y, t)), w)
        for op, f in (("add", lambda x, y: x + y), ("sub", lambda x, y: x - y), ("mul.lo", lambda x, y: x * y),
                      ("mul.hi", lambda x, y, w=w: (x * y) >> w), ("min", min), ("max", max)):
            two(slug(f"{op}.{t}"), f"{op}.{t}", bits, bits, both(f), a, b, f"{op} of {t}")
        nonzero = [(x, y) for x, y in zip(a, b) if y != 0 and not (t[0] == "s" and y == (1 << w) - 1 and x == 1 << (w - 1))]
        na, nb = [x for x, _ in nonzero], [y for _, y in nonzero]

        def quotient(x, y):
            q = abs(x) // abs(y)
            return -q if (x < 0) != (y < 0) else q
        two(f"div_{t}", f"div.{t}", bits, bits, both(quotient), na, nb, "the quotient is cut toward zero")
        two(f"rem_{t}", f"rem.{t}", bits, bits, both(lambda x, y: x - y * quotient(x, y)), na, nb,
            "the remainder has the dividend's sign")
        case(f"mad_lo_{t}", "a b + c, low half", f"mad.lo.{t} d, a, b, c;",
             [("a", bits, a), ("b", bits, b), ("c", bits, c)],
             [("d", bits, [unsigned(x * y + z, w) for x, y, z in zip(a, b, c)])])
        case(f"mad_hi_{t}", "high half of a b, plus c", f"mad.hi.{t} d, a, b, c;",
             [("a", bits, a), ("b", bits, b), ("c", bits, c)],
             [("d", bits, [unsigned(((typed(x, t) * typed(y, t)) >> w) + z, w) for x, y, z in zip(a, b, c)])])
        if w < 64:
            wide = f"b{2 * w}"
            two(f"mul_wide_{t}", f"mul.wide.{t}", bits, wide,
                lambda x, y, t=t, w=w: unsigned(typed(x, t) * typed(y, t), 2 * w), a, b, "the full product")
            long_c = integer_samples(2 * w, 9)
            long_c = (long_c + long_c)[:len(a)]
            case(f"mad_wide_{t}", "the full product plus a wide c", f"mad.wide.{t} d, a, b, c;",
                 [("a", bits, a), ("b", bits, b), ("c", wide, long_c)],
                 [("d", wide, [unsigned(typed(x, t) * typed(y, t) + z, 2 * w) for x, y, z in zip(a, b, long_c)])])
        if t[0] == "s":
            case(f"abs_{t}", "the absolute value; of the smallest it is itself", f"abs.{t} d, a;", [("a", bits, a)],
                 [("d", bits, [unsigned(abs(typed(x, t)), w) for x in a])])
            case(f"neg_{t}", "the negative; of the smallest it is itself", f"neg.{t} d, a;", [("a", bits, a)],
                 [("d", bits, [unsigned(-x, w) for x in a])])
        case(f"sad_{t}", "c + |a - b|", f"sad.{t} d, a, b, c;", [("a", bits, a), ("b", bits, b), ("c", bits, c)],
             [("d", bits, [unsigned(z + abs(typed(x, t) - typed(y, t)), w) for x, y, z in zip(a, b, c)])])
    a, b = integer_pairs(32, 5)
    clamp = lambda v: unsigned(min(max(v, -(1 << 31)), (1 << 31) - 1), 32)
    s = lambda x: signed(x, 32)
    two("add_sat_s32", "add.sat.s32", "b32", "b32", lambda x, y: clamp(s(x) + s(y)), a, b, "clamped to 32 bits")
    two("sub_sat_s32", "sub.sat.s32", "b32", "b32", lambda x, y: clamp(s(x) - s(y)), a, b, "clamped to 32 bits")
    c = list(reversed(a))
    case("mad_hi_sat_s32", "high half of a b, plus c, clamped", "mad.hi.sat.s32 d, a, b, c;",
         [("a", "b32", a), ("b", "b32", b), ("c", "b32", c)],
         [("d", "b32", [clamp(((s(x) * s(y)) >> 32) + s(z)) for x, y, z in zip(a, b, c)])])
    for t in ("u32", "s32"):
        v24 = lambda x, t=t: signed(x, 24) if t == "s32" else x & 0xFFFFFF
        two(f"mul24_lo_{t}", f"mul24.lo.{t}", "b32", "b32", lambda x, y, v=v24: unsigned(v(x) * v(y), 32), a, b,
            "low 32 of the 48-bit product of 24-bit numbers")
        two(f"mul24_hi_{t}", f"mul24.hi.{t}", "b32", "b32", lambda x, y, v=v24: unsigned((v(x) * v(y)) >> 16, 32), a, b,
            "high 32 of the 48-bit product of 24-bit numbers")
        case(f"mad24_lo_{t}", "24-bit product plus c", f"mad24.lo.{t} d, a, b, c;",
             [("a", "b32", a), ("b", "b32", b), ("c", "b32", c)],
             [("d", "b32", [unsigned(v24(x) * v24(y) + z, 32) for x, y, z in zip(a, b, c)])])
    # carry chains
    p, q = integer_pairs(64, 11)
    lo, hi = [x & 0xFFFFFFFF for x in p], [x >> 32 for x in p]
    lo2, hi2 = [x & 0xFFFFFFFF for x in q], [x >> 32 for x in q]
    total = [x + y for x, y in zip(p, q)]
    four = [("a", "b32", lo), ("b", "b32", hi), ("c", "b32", lo2), ("e", "b32", hi2)]
    case("add_cc_chain", "a 96-bit sum in three parts", "add.cc.u32 d, a, c;\naddc.cc.u32 f, b, e;\naddc.u32 g, 0, 0;",
         four, [("d", "b32", [x & 0xFFFFFFFF for x in total]), ("f", "b32", [(x >> 32) & 0xFFFFFFFF for x in total]),
                ("g", "b32", [x >> 64 for x in total])])
    difference = [unsigned(x - y, 96) for x, y in zip(p, q)]
    case("sub_cc_chain", "a 96-bit difference in three parts",
         "sub.cc.u32 d, a, c;\nsubc.cc.u32 f, b, e;\nsubc.u32 g, 0, 0;", four,
         [("d", "b32", [x & 0xFFFFFFFF for x in difference]), ("f", "b32", [(x >> 32) & 0xFFFFFFFF for x in difference]),
          ("g", "b32", [x >> 64 for x in difference])])
    product = [x * y + z for x, y, z in zip(lo, lo2, p)]
    case("mad_cc_chain", "a 64-bit product added to 64 bits, with the carry",
         "mad.lo.cc.u32 d, a, c, a;\nmadc.hi.cc.u32 f, a, c, b;\naddc.u32 g, 0, 0;", four,
         [("d", "b32", [x & 0xFFFFFFFF for x in product]), ("f", "b32", [(x >> 32) & 0xFFFFFFFF for x in product]),
          ("g", "b32", [x >> 64 for x in product])])
    case("add_cc_u64", "a 128-bit sum", "add.cc.u64 d, a, b;\naddc.u64 f, a, b;", [("a", "b64", p), ("b", "b64", q)],
         [("d", "b64", [unsigned(x, 64) for x in total]),
          ("f", "b64", [unsigned(x + (x >> 64), 64) for x in total])])


# ---- bits ----------------------------------------------------------------------------------------------
def bits():
    for w in (32, 64):
        a = integer_samples(w, 21)
        case(f"popc_b{w}", "number of ones", f"popc.b{w} d, a;", [("a", f"b{w}", a)],
             [("d", "b32", [bin(x).count("1") for x in a])])
        case(f"clz_b{w}", "leading zeros", f"clz.b{w} d, a;", [("a", f"b{w}", a)],
             [("d", "b32", [w - x.bit_length() for x in a])])
        case(f"brev_b{w}", "bits in reverse", f"brev.b{w} d, a;", [("a", f"b{w}", a)],
             [("d", f"b{w}", [int(f"{x:0{w}b}"[::-1], 2) for x in a])])
        for t in (f"u{w}", f"s{w}"):
            def find(x, t=t, w=w):
                x = unsigned(~x, w) if t[0] == "s" and x >> (w - 1) else x
                return x.bit_length() - 1
            case(f"bfind_{t}", "the highest bit that is not the sign; none: all ones", f"bfind.{t} d, a;",
                 [("a", f"b{w}", a)], [("d", "b32", [unsigned(find(x), 32) for x in a])])
            case(f"bfind_shiftamt_{t}", "the left shift that brings it to the top", f"bfind.shiftamt.{t} d, a;",
                 [("a", f"b{w}", a)], [("d", "b32", [unsigned(-1 if find(x) < 0 else w - 1 - find(x), 32) for x in a])])
            r = random.Random(w)
            position = [r.choice([0, 1, 5, 17, w - 1, w, 200, 255, 256 + 3]) for _ in a]
            length = [r.choice([0, 1, 8, 13, w - 1, w, 77, 255, 256 + 4]) for _ in a]

            def extract(x, p, n, t=t, w=w):
                p, n = p & 255, n & 255
                top = w - 1
                sign = 0 if t[0] == "u" or n == 0 else (x >> min(p + n - 1, top)) & 1
                out = 0
                for i in range(w):
                    out |= ((x >> (p + i)) & 1 if i < n and p + i <= top else sign) << i
                return out
            case(f"bfe_{t}", "a field, extended; positions and lengths count modulo 256", f"bfe.{t} d, a, b, c;",
                 [("a", f"b{w}", a), ("b", "b32", position), ("c", "b32", length)],
                 [("d", f"b{w}", [extract(x, p, n) for x, p, n in zip(a, position, length)])])
        into = list(reversed(a))

        def insert(x, y, p, n, w=w):
            p, n = p & 255, n & 255
            for i in range(n):
                if p + i >= w:
                    break
                y = (y & ~(1 << (p + i))) | (((x >> i) & 1) << (p + i))
            return y
        case(f"bfi_b{w}", "a field put into b", f"bfi.b{w} d, a, b, c, e;",
             [("a", f"b{w}", a), ("b", f"b{w}", into), ("c", "b32", position), ("e", "b32", length)],
             [("d", f"b{w}", [insert(x, y, p, n) for x, y, p, n in zip(a, into, position, length)])])
    for w in (16, 32, 64):
        a, b = integer_pairs(w, 31)
        t = f"b{w}"
        for op, f in (("and", lambda x, y: x & y), ("or", lambda x, y: x | y), ("xor", lambda x, y: x ^ y)):
            two(f"{op}_{t}", f"{op}.{t}", t, t, f, a, b, "bit by bit")
        case(f"not_{t}", "every bit turned", f"not.{t} d, a;", [("a", t, a)], [("d", t, [unsigned(~x, w) for x in a])])
        case(f"cnot_{t}", "one when a is zero", f"cnot.{t} d, a;", [("a", t, a)], [("d", t, [int(x == 0) for x in a])])
        r = random.Random(w)
        amount = [r.choice([0, 1, 7, w - 1, w, w + 1, 100, 0xFFFFFFFF, 1 << 31]) for _ in a]
        ins = [("a", t, a), ("b", "b32", amount)]
        case(f"shl_{t}", "amounts beyond the width give zero", f"shl.{t} d, a, b;", ins,
             [("d", t, [unsigned(x << min(n, w), w) for x, n in zip(a, amount)])])
        case(f"shr_u{w}", "amounts beyond the width give zero", f"shr.u{w} d, a, b;", ins,
             [("d", t, [x >> min(n, w) for x, n in zip(a, amount)])])
        case(f"shr_s{w}", "amounts beyond the width give the sign", f"shr.s{w} d, a, b;", ins,
             [("d", t, [unsigned(signed(x, w) >> min(n, w), w) for x, n in zip(a, amount)])])
    a, b = integer_pairs(32, 41)
    r = random.Random(9)
    amount = [r.choice([0, 1, 9, 31, 32, 33, 64, 255]) for _ in a]
    for way in ("l", "r"):
        for mode in ("wrap", "clamp"):
            def funnel(x, y, n, way=way, mode=mode):
                n = n & 31 if mode == "wrap" else min(n, 32)
                whole = (y << 32) | x
                return unsigned((whole << n) >> 32, 32) if way == "l" else unsigned(whole >> n, 32)
            case(f"shf_{way}_{mode}_b32", "shift of the pair b:a", f"shf.{way}.{mode}.b32 d, a, b, c;",
                 [("a", "b32", a), ("b", "b32", b), ("c", "b32", amount)],
                 [("d", "b32", [funnel(x, y, n) for x, y, n in zip(a, b, amount)])])
    c = list(reversed(a))
    for lut in (0x80, 0xFE, 0x96, 0xE2, 0x1A, 0x00, 0xFF):
        def lop(x, y, z, lut=lut):
            out = 0
            for i in range(32):
                out |= ((lut >> ((x >> i & 1) << 2 | (y >> i & 1) << 1 | (z >> i & 1))) & 1) << i
            return out
        case(f"lop3_{lut:02x}", "the table's bit of the three bits", f"lop3.b32 d, a, b, c, 0x{lut:x};",
             [("a", "b32", a), ("b", "b32", b), ("c", "b32", c)],
             [("d", "b32", [lop(x, y, z) for x, y, z in zip(a, b, c)])])

    def prmt(x, y, sel, mode):
        data = [(x >> 8 * i) & 255 for i in range(4)] + [(y >> 8 * i) & 255 for i in range(4)]
        n = sel & 3
        if mode == "":
            picks = [(sel >> 4 * i) & 15 for i in range(4)]
            return sum((data[p & 7] if p < 8 else (255 if data[p & 7] & 128 else 0)) << 8 * i for i, p in enumerate(picks))
        table = {"f4e": [n, n + 1, n + 2, n + 3], "b4e": [n, n - 1 & 7, n - 2 & 7, n - 3 & 7], "rc8": [n] * 4,
                 "ecl": [n, max(n, 1), max(n, 2), 3], "ecr": [0, min(1, n), min(2, n), n],
                 "rc16": [(n & 1) * 2, (n & 1) * 2 + 1] * 2}[mode]
        return sum(data[p] << 8 * i for i, p in enumerate(table))
    select = [0x3210, 0x7654, 0x0123, 0x5410, 0xFEDC, 0x89AB, 0xFFFF7531] + [r.getrandbits(32) for _ in a]
    select = select[:len(a)]
    for mode in ("", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        case("prmt_b32" + (f"_{mode}" if mode else ""), "bytes of b:a chosen by c",
             f"prmt.b32{'.' + mode if mode else ''} d, a, b, c;", [("a", "b32", a), ("b", "b32", b), ("c", "b32", select)],
             [("d", "b32", [prmt(x, y, z, mode) for x, y, z in zip(a, b, select)])])
    for at in ("u32", "s32"):
        for bt in ("u32", "s32"):
            byte = lambda x, i, t: signed(x >> 8 * i, 8) if t == "s32" else (x >> 8 * i) & 255
            half = lambda x, i, t: signed(x >> 16 * i, 16) if t == "s32" else (x >> 16 * i) & 0xFFFF
            ins = [("a", "b32", a), ("b", "b32", b), ("c", "b32", c)]
            case(f"dp4a_{at}_{bt}", "four products of bytes plus c", f"dp4a.{at}.{bt} d, a, b, c;", ins,
                 [("d", "b32", [unsigned(z + sum(byte(x, i, at) * byte(y, i, bt) for i in range(4)), 32)
                                for x, y, z in zip(a, b, c)])])
            for which, first in (("lo", 0), ("hi", 2)):
                case(f"dp2a_{which}_{at}_{bt}", "two products of halves and bytes plus c",
                     f"dp2a.{which}.{at}.{bt} d, a, b, c;", ins,
                     [("d", "b32", [unsigned(z + sum(half(x, i, at) * byte(y, first + i, bt) for i in range(2)), 32)
                                    for x, y, z in zip(a, b, c)])])
    position = [r.choice([0, 1, 8, 31, 32, 40]) for _ in a]
    length = [r.choice([0, 1, 8, 31, 32, 40]) for _ in a]
    for mode in ("clamp", "wrap"):
        def mask(p, n, mode=mode):
            if mode == "wrap":
                p, n = p & 31, n & 31
            else:
                p, n = min(p, 32), min(n, 32)
            return unsigned(((1 << n) - 1) << p, 32)
        case(f"bmsk_{mode}_b32", "b ones from bit a on", f"bmsk.{mode}.b32 d, a, b;",
             [("a", "b32", position), ("b", "b32", length)], [("d", "b32", [mask(p, n) for p, n in zip(position, length)])])


# ---- comparison and selection --------------------------------------------------------------------------
INTEGER_COMPARE = {"eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y,
                   "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y}


def float_compare(f, op, x, y, ftz=False):
    if ftz:
        x, y = f.flush(x), f.flush(y)
    unordered = f.is_nan(x) or f.is_nan(y)
    if op == "num":
        return not unordered
    if op == "nan":
        return unordered
    base = op[:-1] if op in ("equ", "neu", "ltu", "leu", "gtu", "geu") else op
    if unordered:
        return base != op
    big = Fraction(2) ** 5000
    v = lambda z: (-big if f.negative(z) else big) if f.is_inf(z) else f.value(z)
    return INTEGER_COMPARE[base](v(x), v(y))


def compare():
    for t in ("s16", "u16", "s32", "u32", "s64", "u64"):
        w = int(t[1:])
        a, b = integer_pairs(w, 51)
        b[3], b[4] = a[3], a[4]
        for op, f in INTEGER_COMPARE.items():
            case(f"setp_{op}_{t}", f"{op} of {t}", f"setp.{op}.{t} p, a, b;", [("a", f"b{w}", a), ("b", f"b{w}", b)],
                 [("p", "pred", [int(f(typed(x, t), typed(y, t))) for x, y in zip(a, b)])])
    a, b = integer_pairs(32, 52)
    for op, base in (("lo", "lt"), ("ls", "le"), ("hi", "gt"), ("hs", "ge")):
        case(f"setp_{op}_u32", f"{op} is the unsigned {base}", f"setp.{op}.u32 p, a, b;", [("a", "b32", a), ("b", "b32", b)],
             [("p", "pred", [int(INTEGER_COMPARE[base](x, y)) for x, y in zip(a, b)])])
    for f in (F32, F64, F16, BF16):
        a, b = pairs(f, 53)
        b[2], b[5], b[9] = a[2], a[5], a[9]
        for op in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"):
            if f in (F16, BF16) and op not in ("eq", "ne", "ltu", "ge", "nan"):
                continue
            case(f"setp_{op}_{f.name}", f"{op}: unordered gives " + ("true" if op in ("equ", "neu", "ltu", "leu", "gtu", "geu", "nan") else "false"),
                 f"setp.{op}.{f.name} p, a, b;", [("a", f.name, a), ("b", f.name, b)],
                 [("p", "pred", [int(float_compare(f, op, x, y)) for x, y in zip(a, b)])],
                 "sm_90" if f is BF16 else None)
    a = [1, 0x80000001, 0, 1 << 23, 3]
    b = [0, 0, 0x80000000, 1, 2]
    case("setp_gt_ftz_f32", "subnormal operands count as zero", "setp.gt.ftz.f32 p, a, b;", [("a", "f32", a), ("b", "f32", b)],
         [("p", "pred", [int(float_compare(F32, "gt", x, y, True)) for x, y in zip(a, b)])])
    a, b = integer_pairs(32, 54)
    c = [i & 1 for i in range(len(a))]
    for op, f in (("and", lambda x, y: x and y), ("or", lambda x, y: x or y), ("xor", lambda x, y: x != y)):
        less = [signed(x, 32) < signed(y, 32) for x, y in zip(a, b)]
        case(f"setp_lt_{op}_s32", "p is the comparison combined with c, q its complement combined with c",
             f"setp.lt.{op}.s32 p|q, a, b, c;", [("a", "b32", a), ("b", "b32", b), ("c", "pred", c)],
             [("p", "pred", [int(f(x, bool(y))) for x, y in zip(less, c)]),
              ("q", "pred", [int(f(not x, bool(y))) for x, y in zip(less, c)])])
        case(f"setp_lt_{op}_not_s32", "the third operand negated", f"setp.lt.{op}.s32 p, a, b, !c;",
             [("a", "b32", a), ("b", "b32", b), ("c", "pred", c)],
             [("p", "pred", [int(f(x, not y)) for x, y in zip(less, c)])])
    x, y = pairs(F32, 55)
    case("set_lt_u32_f32", "all ones for true", "set.lt.u32.f32 d, a, b;", [("a", "f32", x), ("b", "f32", y)],
         [("d", "b32", [0xFFFFFFFF * float_compare(F32, "lt", p, q) for p, q in zip(x, y)])])
    case("set_geu_f32_f32", "1.0 for true", "set.geu.f32.f32 d, a, b;", [("a", "f32", x), ("b", "f32", y)],
         [("d", "f32", [0x3F800000 * float_compare(F32, "geu", p, q) for p, q in zip(x, y)])])
    case("set_ne_s32_u32", "all ones for true", "set.ne.s32.u32 d, a, b;", [("a", "b32", a), ("b", "b32", b)],
         [("d", "b32", [0xFFFFFFFF * (p != q) for p, q in zip(a, b)])])
    for w in (16, 32, 64):
        a, b = integer_pairs(w, 56)
        c = [(i * 7 >> 1) & 1 for i in range(len(a))]
        case(f"selp_b{w}", "a where c holds, else b", f"selp.b{w} d, a, b, c;",
             [("a", f"b{w}", a), ("b", f"b{w}", b), ("c", "pred", c)],
             [("d", f"b{w}", [x if z else y for x, y, z in zip(a, b, c)])])
        if w > 16:
            s = integer_samples(32, 57)
            s = (s + s)[:len(a)]
            case(f"slct_b{w}_s32", "a where c >= 0, else b", f"slct.b{w}.s32 d, a, b, c;",
                 [("a", f"b{w}", a), ("b", f"b{w}", b), ("c", "b32", s)],
                 [("d", f"b{w}", [x if signed(z, 32) >= 0 else y for x, y, z in zip(a, b, s)])])


# ---- floating point ------------------------------------------------------------------------------------
def floats():
    for f in (F32, F64):
        t = f.name
        a, b = pairs(f, 61)
        ta, tb, tc = triples(f, 62)
        for mode in ("rn", "rz", "rm", "rp"):
            two(f"add_{mode}_{t}", f"add.{mode}.{t}", t, t, lambda x, y: f_add(f, x, y, mode), a, b, f"rounded {mode}")
            two(f"sub_{mode}_{t}", f"sub.{mode}.{t}", t, t, lambda x, y: f_sub(f, x, y, mode), a, b, f"rounded {mode}")
            two(f"mul_{mode}_{t}", f"mul.{mode}.{t}", t, t, lambda x, y: f_mul(f, x, y, mode), a, b, f"rounded {mode}")
            two(f"div_{mode}_{t}", f"div.{mode}.{t}", t, t, lambda x, y: f_div(f, x, y, mode), a, b, f"rounded {mode}")
            case(f"fma_{mode}_{t}", "one rounding", f"fma.{mode}.{t} d, a, b, c;", [("a", t, ta), ("b", t, tb), ("c", t, tc)],
                 [("d", t, [f_fma(f, x, y, z, mode) for x, y, z in zip(ta, tb, tc)])])
            case(f"sqrt_{mode}_{t}", f"rounded {mode}", f"sqrt.{mode}.{t} d, a;", [("a", t, a)],
                 [("d", t, [f_sqrt(f, x, mode) for x in a])])
            one = f.bias << f.mantissa
            case(f"rcp_{mode}_{t}", f"rounded {mode}", f"rcp.{mode}.{t} d, a;", [("a", t, a)],
                 [("d", t, [f_div(f, one, x, mode) for x in a])])
        for op, is_max in (("min", False), ("max", True)):
            two(f"{op}_{t}", f"{op}.{t}", t, t, lambda x, y: f_minmax(f, x, y, is_max), a, b,
                "a NaN gives the other operand, -0 lies below +0")
        case(f"neg_{t}", "the sign turned", f"neg.{t} d, a;", [("a", t, [x for x in a if not f.is_nan(x)])],
             [("d", t, [x ^ f.sign for x in a if not f.is_nan(x)])])
        case(f"abs_{t}", "the sign cleared", f"abs.{t} d, a;", [("a", t, [x for x in a if not f.is_nan(x)])],
             [("d", t, [x & ~f.sign for x in a if not f.is_nan(x)])])
        two(f"copysign_{t}", f"copysign.{t}", t, t, lambda x, y: (y & ~f.sign) | (x & f.sign), a, b, "b with a's sign")
        for op, test in (("finite", lambda x: not f.is_nan(x) and not f.is_inf(x)), ("infinite", f.is_inf),
                         ("number", lambda x: not f.is_nan(x)), ("notanumber", f.is_nan),
                         ("normal", lambda x: not f.is_nan(x) and not f.is_inf(x) and not f.is_subnormal(x) and x & ~f.sign != 0),
                         ("subnormal", f.is_subnormal)):
            case(f"testp_{op}_{t}", op, f"testp.{op}.{t} p, a;", [("a", t, a)], [("p", "pred", [int(test(x)) for x in a])])
        case(f"mad_rn_{t}", "mad is fma", f"mad.rn.{t} d, a, b, c;", [("a", t, ta), ("b", t, tb), ("c", t, tc)],
             [("d", t, [f_fma(f, x, y, z) for x, y, z in zip(ta, tb, tc)])])
    f = F32
    low_a = float_samples(f, 6, 63) + [5, 0x80000007, 0x00800000, 0x00800001, 0x80800000, 0x00ffffff, 0x3f000000]
    low_b = list(reversed(low_a))
    low_b[-3:] = [0x80800001, 0x3f000000, 0x00800000]
    two("add_ftz_f32", "add.ftz.f32", "f32", "f32", lambda x, y: f_add(f, x, y, "rn", True), low_a, low_b,
        "subnormal operands and results are zeros of their sign")
    two("sub_ftz_f32", "sub.ftz.f32", "f32", "f32", lambda x, y: f_sub(f, x, y, "rn", True), low_a, low_b, "flushed")
    two("mul_ftz_f32", "mul.ftz.f32", "f32", "f32", lambda x, y: f_mul(f, x, y, "rn", True), low_a, low_b, "flushed")
    two("div_rn_ftz_f32", "div.rn.ftz.f32", "f32", "f32", lambda x, y: f_div(f, x, y, "rn", True), low_a, low_b, "flushed")
    low_c = low_b[::-1]
    case("fma_rn_ftz_f32", "flushed", "fma.rn.ftz.f32 d, a, b, c;", [("a", "f32", low_a), ("b", "f32", low_b), ("c", "f32", low_c)],
         [("d", "f32", [f_fma(f, x, y, z, "rn", True) for x, y, z in zip(low_a, low_b, low_c)])])
    case("sqrt_rn_ftz_f32", "flushed", "sqrt.rn.ftz.f32 d, a;", [("a", "f32", low_a)],
         [("d", "f32", [f_sqrt(f, x, "rn", True) for x in low_a])])
    two("min_ftz_f32", "min.ftz.f32", "f32", "f32", lambda x, y: f_minmax(f, x, y, False, False, True), low_a, low_b, "flushed")
    case("neg_ftz_f32", "flushed", "neg.ftz.f32 d, a;", [("a", "f32", [x for x in low_a if not f.is_nan(x)])],
         [("d", "f32", [f.flush(x ^ f.sign) for x in low_a if not f.is_nan(x)])])
    case("abs_ftz_f32", "flushed", "abs.ftz.f32 d, a;", [("a", "f32", [x for x in low_a if not f.is_nan(x)])],
         [("d", "f32", [f.flush(x & ~f.sign) for x in low_a if not f.is_nan(x)])])
    a, b = pairs(f, 64)
    two("add_sat_f32", "add.sat.f32", "f32", "f32", lambda x, y: f_sat(f, f_add(f, x, y)), a, b, "clamped to [0, 1], NaN gives 0")
    two("mul_sat_f32", "mul.sat.f32", "f32", "f32", lambda x, y: f_sat(f, f_mul(f, x, y)), a, b, "clamped to [0, 1], NaN gives 0")
    c = a[::-1]
    case("fma_rn_sat_f32", "clamped to [0, 1], NaN gives 0", "fma.rn.sat.f32 d, a, b, c;",
         [("a", "f32", a), ("b", "f32", b), ("c", "f32", c)],
         [("d", "f32", [f_sat(f, f_fma(f, x, y, z)) for x, y, z in zip(a, b, c)])])
    for op, is_max in (("min", False), ("max", True)):
        two(f"{op}_NaN_f32", f"{op}.NaN.f32", "f32", "f32", lambda x, y: f_minmax(f, x, y, is_max, True), a, b,
            "a NaN gives the canonical NaN")

        def xorsign(x, y):
            m = f_minmax(f, x & ~f.sign, y & ~f.sign, is_max)
            return m if f.is_nan(m) else (m & ~f.sign) | ((x ^ y) & f.sign)
        pa, pb = zip(*[(x, y) for x, y in zip(a, b) if not f.is_nan(x) and not f.is_nan(y)])
        two(f"{op}_xorsign_abs_f32", f"{op}.xorsign.abs.f32", "f32", "f32", xorsign, list(pa), list(pb),
            "of the magnitudes, with the sign of the product", "sm_86")


# ---- half precision ------------------------------------------------------------------------------------
def halves():
    for f in (F16, BF16):
        t = f.name
        target = "sm_90" if f is BF16 else None
        a, b = pairs(f, 71)
        ta, tb, tc = triples(f, 72)
        for op, g in (("add", f_add), ("sub", f_sub), ("mul", f_mul)):
            name = f"{op}.rn.{t}"
            two(slug(name), name, t, t, lambda x, y: g(f, x, y), a, b, "rounded to nearest even", target)
            if len(a) % 2:
                a, b = a + [0], b + [0]
            pa = [x | y << 16 for x, y in zip(a[::2], a[1::2])]
            pb = [x | y << 16 for x, y in zip(b[::2], b[1::2])]
            two(slug(f"{op}.rn.{t}x2"), f"{op}.rn.{t}x2", "b32", "b32",
                lambda x, y: g(f, x & 0xFFFF, y & 0xFFFF) | g(f, x >> 16, y >> 16) << 16, pa, pb, "both halves", target)
        relu = lambda x: f.nan if f.is_nan(x) else 0 if f.negative(x) else x
        case(f"fma_rn_{t}", "one rounding", f"fma.rn.{t} d, a, b, c;", [("a", t, ta), ("b", t, tb), ("c", t, tc)],
             [("d", t, [f_fma(f, x, y, z) for x, y, z in zip(ta, tb, tc)])])
        case(f"fma_rn_relu_{t}", "negative results become +0, NaN stays", f"fma.rn.relu.{t} d, a, b, c;",
             [("a", t, ta), ("b", t, tb), ("c", t, tc)],
             [("d", t, [relu(f_fma(f, x, y, z)) for x, y, z in zip(ta, tb, tc)])])
        n = len(ta) // 2 * 2
        pack = lambda v: [x | y << 16 for x, y in zip(v[:n:2], v[1:n:2])]
        case(f"fma_rn_{t}x2", "both halves", f"fma.rn.{t}x2 d, a, b, c;",
             [("a", "b32", pack(ta)), ("b", "b32", pack(tb)), ("c", "b32", pack(tc))],
             [("d", "b32", pack([f_fma(f, x, y, z) for x, y, z in zip(ta, tb, tc)]))])
        for op, is_max in (("min", False), ("max", True)):
            two(f"{op}_{t}", f"{op}.{t}", t, t, lambda x, y: f_minmax(f, x, y, is_max), a, b,
                "a NaN gives the other operand")
            two(f"{op}_NaN_{t}", f"{op}.NaN.{t}", t, t, lambda x, y: f_minmax(f, x, y, is_max, True), a, b,
                "a NaN gives the canonical NaN")
        case(f"neg_{t}", "the sign turned", f"neg.{t} d, a;", [("a", t, [x for x in a if not f.is_nan(x)])],
             [("d", t, [x ^ f.sign for x in a if not f.is_nan(x)])])
        case(f"abs_{t}", "the sign cleared", f"abs.{t} d, a;", [("a", t, [x for x in a if not f.is_nan(x)])],
             [("d", t, [x & ~f.sign for x in a if not f.is_nan(x)])])
    f = F16
    a, b = pairs(f, 73)
    two("add_sat_f16", "add.sat.f16", "f16", "f16", lambda x, y: f_sat(f, f_add(f, x, y)), a, b, "clamped to [0, 1]")
    two("mul_ftz_f16", "mul.ftz.f16", "f16", "f16", lambda x, y: f_mul(f, x, y, "rn", True), a, b, "flushed")
    case("set_lt_f16_f16", "1.0 for true", "set.lt.f16.f16 d, a, b;", [("a", "f16", a), ("b", "f16", b)],
         [("d", "f16", [0x3C00 * float_compare(f, "lt", x, y) for x, y in zip(a, b)])])


# ---- conversion ----------------------------------------------------------------------------------------
def conversions():
    # integers to integers
    for source in ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"):
        for target in ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"):
            sw, tw = int(source[1:]), int(target[1:])
            if source == target:
                continue
            ra, rd = f"b{max(sw, 16)}", f"b{max(tw, 16)}"
            a = [x for x in integer_samples(max(sw, 16), 81)]
            low, high = (-(1 << (tw - 1)), (1 << (tw - 1)) - 1) if target[0] == "s" else (0, (1 << tw) - 1)
            # A result narrower than its register is extended by its type.
            fit = lambda v: unsigned(typed(unsigned(v, tw), target), max(tw, 16))
            if sw != tw and (source[0] == target[0] or tw > sw):
                case(f"cvt_{target}_{source}", "extended by the source's sign or cut", f"cvt.{target}.{source} d, a;",
                     [("a", ra, a)], [("d", rd, [fit(typed(x, source)) for x in a])])
            if not (target[0] == source[0] and tw > sw) and not (source[0] == "u" and tw > sw):
                case(f"cvt_sat_{target}_{source}", "clamped to the target's range", f"cvt.sat.{target}.{source} d, a;",
                     [("a", ra, a)], [("d", rd, [fit(min(max(typed(x, source), low), high)) for x in a])])
    # floats to integers
    for f in (F32, F64, F16):
        a = float_samples(f, 30, 82)
        r = random.Random(83)
        exponent = f.bias + (14 if f is F16 else 20)
        a += [(r.randrange(2) * f.sign) | (f.bias + k << f.mantissa) | r.randrange(1 << f.mantissa)
              for k in (-1, 0, 1, 2, 3, 5, 7, 8, 12, 15) + ((16, 30, 31, 32, 33, 62, 63, 64) if f is not F16 else ())]
        halfway = [F32.round(Fraction(k, 2), "rn") if f is F32 else f.round(Fraction(k, 2), "rn") for k in range(-7, 8)]
        a += halfway
        a = [x for x in a if not f.is_nan(x)]
        for t in ("s32", "u32", "s64", "u64", "s16", "u8") if f is F32 else ("s32", "u32", "s64", "u64") if f is F64 else ("s32", "u16"):
            for mode in ("rzi", "rni", "rmi", "rpi") if t in ("s32", "u64") else ("rzi",):
                w = max(int(t[1:]), 16)
                case(f"cvt_{mode}_{t}_{f.name}", "out of range is clamped", f"cvt.{mode}.{t}.{f.name} d, a;", [("a", f.name, a)],
                     [("d", f"b{w}", [to_integer(f, x, mode, t) for x in a])])
    # integers to floats
    for f in (F32, F64, F16):
        for t in ("s32", "u32", "s64", "u64", "s16"):
            w = int(t[1:])
            a = integer_samples(w, 84, 20) + ([(1 << 24) + 1, (1 << 24) + 3, 0x7FFFFFBF, 0x7FFFFFC0] if w > 16 else []) + \
                ([(1 << 53) + 1, (1 << 53) + 3, (1 << 63) - 1] if w == 64 else [])
            for mode in ("rn", "rz", "rm", "rp") if f is not F16 and t in ("s32", "u64") else ("rn",):
                case(f"cvt_{mode}_{f.name}_{t}", f"rounded {mode}", f"cvt.{mode}.{f.name}.{t} d, a;", [("a", f"b{w}", a)],
                     [("d", f.name, [f.round(Fraction(typed(x, t)), mode) for x in a])])
    # floats to floats
    for source, target, modes in ((F64, F32, ("rn", "rz", "rm", "rp")), (F32, F16, ("rn", "rz")), (F32, BF16, ("rn", "rz")),
                                  (F64, F16, ("rn",))):
        a = float_samples(source, 30, 85)
        r = random.Random(86)
        drop = source.mantissa - target.mantissa
        for k in range(-3, 6):
            base = (source.bias + k) << source.mantissa | r.getrandbits(target.mantissa) << drop
            a += [base | 1 << (drop - 1), base | (1 << (drop - 1)) + 1, base | (1 << (drop - 1)) - 1, base | (3 << (drop - 1))]
        for k in (target.emin - 1, target.emin - 3, target.emin - target.mantissa, target.emin - target.mantissa - 1, target.bias, target.bias + 1):
            if source.emin <= k <= source.bias:
                a += [(k + source.bias) << source.mantissa | r.getrandbits(source.mantissa), (k + source.bias) << source.mantissa | source.sign]
        for mode in modes:
            case(f"cvt_{mode}_{target.name}_{source.name}", f"rounded {mode}", f"cvt.{mode}.{target.name}.{source.name} d, a;",
                 [("a", source.name, a)], [("d", target.name, [convert(source, target, x, mode) for x in a])])
    for source, target in ((F16, F32), (F32, F64), (F16, F64), (BF16, F32)):
        a = float_samples(source, 30, 87)
        case(f"cvt_{target.name}_{source.name}", "exact", f"cvt.{target.name}.{source.name} d, a;", [("a", source.name, a)],
             [("d", target.name, [convert(source, target, x) for x in a])], "sm_90" if source is BF16 else None)
    for f in (F32, F64):
        a = [x for x in float_samples(f, 40, 88)] + [f.round(Fraction(k, 4), "rn") for k in range(-9, 10)]
        for mode in ("rni", "rzi", "rmi", "rpi"):
            def whole(x):
                if f.is_nan(x):
                    return nan_of(f)
                if f.is_inf(x):
                    return x
                return f.round(Fraction(integral(f.value(x), mode)), "rn", f.negative(x))
            case(f"cvt_{mode}_{f.name}_{f.name}", "to an integral value of the same format", f"cvt.{mode}.{f.name}.{f.name} d, a;",
                 [("a", f.name, a)], [("d", f.name, [whole(x) for x in a])])
    a = float_samples(F32, 20, 89)
    case("cvt_sat_f32_f32", "clamped to [0, 1], NaN gives 0", "cvt.sat.f32.f32 d, a;", [("a", "f32", a)],
         [("d", "f32", [f_sat(F32, x) for x in a])])
    case("cvt_ftz_f32_f32", "flushed", "cvt.ftz.f32.f32 d, a;", [("a", "f32", [x for x in a if not F32.is_nan(x)])],
         [("d", "f32", [F32.flush(x) for x in a if not F32.is_nan(x)])])
    b = a[::-1]
    for target in (F16, BF16):
        case(f"cvt_rn_{target.name}x2_f32", "a in the upper half, b in the lower", f"cvt.rn.{target.name}x2.f32 d, a, b;",
             [("a", "f32", a), ("b", "f32", b)],
             [("d", "b32", [convert(F32, target, x) << 16 | convert(F32, target, y) for x, y in zip(a, b)])])
        case(f"cvt_rn_relu_{target.name}_f32", "negative becomes +0 (what -0 becomes is not said)",
             f"cvt.rn.relu.{target.name}.f32 d, a;", [("a", "f32", a)],
             [("d", target.name, ["_" if x == F32.sign else target.nan if F32.is_nan(x) else 0 if F32.negative(x) else convert(F32, target, x) for x in a])])
    tf32 = [x for x in a if not F32.is_nan(x)] + [0x3F801000, 0x3F800FFF, 0x3F803000, 0xBF801000, 0x7F7FF000]

    def rna(x):
        if F32.is_inf(x):
            return x
        return (x + 0x1000) & 0xFFFFE000
    # The low 13 bits of a tf32 register are not specified, so they are masked away.
    case("cvt_rna_tf32_f32", "to nearest, ties away from zero", "cvt.rna.tf32.f32 d, a;\nand.b32 d, d, 0xffffe000;",
         [("a", "f32", tf32)], [("d", "b32", [rna(x) for x in tf32])])


def write_all():
    integers()
    bits()
    compare()
    floats()
    halves()
    conversions()
