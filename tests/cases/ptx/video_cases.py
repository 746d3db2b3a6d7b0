"""Cases of the video instructions, after the stages and the pseudocode of the ISA's sections on them."""
import random

from arithmetic_cases import INTEGER_COMPARE
from case_writer import Family
from exact import signed, unsigned
from form_cases import options

SOURCE = "the ISA's pseudocode for video instructions, in Python's integers"
SIGNS = ("u32", "s32")
PARTS = {"": (0, 32), "b0": (0, 8), "b1": (8, 8), "b2": (16, 8), "b3": (24, 8), "h0": (0, 16), "h1": (16, 16)}
BINARY = {"vadd": lambda x, y: x + y, "vsub": lambda x, y: x - y, "vabsdiff": lambda x, y: abs(x - y), "vmin": min, "vmax": max,
          "vavrg": lambda x, y: (x + y + (x + y >= 0)) >> 1}
SECOND = {"add": lambda x, c: x + c, "min": min, "max": max}


def extended(v, at, bits, t):
    v = v >> at & (1 << bits) - 1
    return signed(v, bits) if t[0] == "s" else v


def clamped(v, bits, t):
    low = -(1 << bits - 1) if t[0] == "s" else 0
    return min(max(v, low), low + (1 << bits) - 1)


def merged(v, part, c):
    at, bits = PARTS[part]
    keep = (1 << bits) - 1 << at
    return v << at & keep | c & ~keep & 0xFFFFFFFF


def words(seed, n=20):
    r = random.Random(seed)
    special = [0, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x80FF7F01, 0x8000FFFF, 0x7FFF8000]
    return special + [r.getrandbits(32) for _ in range(n - len(special))]


def scalar():
    a, b, c = words(501), words(502)[::-1], words(503)
    # Without .sat an intermediate result beyond 33 bits is only said for its low 32 bits: enough where they are all
    # that is used; .min and .max see more, so their operands stay small there.
    small = [x >> 2 for x in a], [x >> 2 for x in b]
    with Family("video_scalar", SOURCE, [("a", "b32", a), ("b", "b32", b), ("c", "b32", c), ("x", "b32", small[0]), ("y", "b32", small[1])]) as family:
        for op, d, ta, tb, sat, second in options(("vadd", "vsub", "vabsdiff", "vmin", "vmax"), SIGNS, SIGNS, SIGNS, ("", ".sat"), ("",) + tuple(SECOND)):
            near = second in ("min", "max") and not sat
            p, q, pn, qn = (small[0], small[1], "x", "y") if near else (a, b, "a", "b")
            out = []
            for v, w, z in zip(p, q, c):
                r = BINARY[op](extended(v, 0, 32, ta), extended(w, 0, 32, tb))
                if sat:
                    r = clamped(r, 32, d)
                if second:
                    r = SECOND[second](r, extended(z, 0, 32, d))
                out.append(unsigned(r, 32))
            name = f"{op}.{d}.{ta}.{tb}{sat}{'.' + second if second else ''}"
            family.add(name, "of words", f"{name} d, {pn}, {qn}{', c' if second else ''};", [("d", "b32", out)])
        r = random.Random(504)
        for op, d, ta, tb, sat in options(("vadd", "vsub", "vabsdiff", "vmin", "vmax"), SIGNS, SIGNS, SIGNS, ("", ".sat")):
            to, pa, pb = r.choice(list(PARTS)[1:]), r.choice(list(PARTS)), r.choice(list(PARTS)[1:])
            out = []
            for v, w, z in zip(a, b, c):
                x = BINARY[op](extended(v, *PARTS[pa], ta), extended(w, *PARTS[pb], tb))
                out.append(merged(clamped(x, PARTS[to][1], d) if sat else x, to, z))
            dot = lambda part: "." + part if part else ""
            family.add(f"{op}.{d}.{ta}.{tb}{sat}_merge", "parts, one part of the result", f"{op}.{d}.{ta}.{tb}{sat} d{dot(to)}, a{dot(pa)}, b{dot(pb)}, c;", [("d", "b32", out)])
        for op, to in options(("vadd", "vsub", "vabsdiff", "vmin", "vmax"), ("b0", "b1", "b2", "b3", "h0", "h1")):
            out = [merged(clamped(BINARY[op](extended(v, 16, 16, "s"), extended(w, 8, 8, "u")), PARTS[to][1], "s"), to, z) for v, w, z in zip(a, b, c)]
            family.add(f"{op}_{to}", "every part of the result", f"{op}.s32.s32.u32.sat d.{to}, a.h1, b.b1, c;", [("d", "b32", out)])
    amounts = [0, 1, 2, 3, 5, 7, 8, 15, 16, 24, 31, 32, 33, 40, 63, 64, 255, 0x101, 0xFFFF, 0xFFFFFFFF]
    # Shifted left by more, .sat would see beyond the 34 bits of an intermediate result.
    few = [0, 1, 2, 1, 0, 2, 1, 0, 1, 2, 0, 1, 32 + 1, 0, 1, 2, 0, 1, 2, 32]
    ones = [0, 1, 3, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 0, 1, 1, 1, 0]
    with Family("video_shift", SOURCE, [("a", "b32", a), ("b", "b32", amounts), ("c", "b32", c), ("x", "b32", ones), ("f", "b32", few)]) as family:
        for op, d, ta, sat, mode, second in options(("vshl", "vshr"), SIGNS, SIGNS, ("", ".sat"), ("clamp", "wrap"), ("",) + tuple(SECOND)):
            near = op == "vshl" and (sat or second in ("min", "max"))
            p, q, pn, qn = (ones if mode == "clamp" else a, few, "x" if mode == "clamp" else "a", "f") if near else (a, amounts, "a", "b")
            if near and not sat:
                p, pn = ones, "x"
            out = []
            for v, n, z in zip(p, q, c):
                n = n & 31 if mode == "wrap" else min(n, 32)
                x = extended(v, 0, 32, ta)
                x = x << n if op == "vshl" else x >> n
                if near and not -(1 << 33) <= x < 1 << 33 or near and not sat and not -(1 << 32) <= x < 1 << 32:
                    out.append("_")
                    continue
                if sat:
                    x = clamped(x, 32, d)
                if second:
                    x = SECOND[second](x, extended(z, 0, 32, d))
                out.append(unsigned(x, 32))
            name = f"{op}.{d}.{ta}.u32{sat}.{mode}{'.' + second if second else ''}"
            family.add(name, "of words", f"{name} d, {pn}, {qn}{', c' if second else ''};", [("d", "b32", out)])
        r = random.Random(505)
        for op, d, ta, sat, mode in options(("vshl", "vshr"), SIGNS, SIGNS, ("", ".sat"), ("clamp", "wrap")):
            to, pa = r.choice(list(PARTS)[1:]), r.choice(list(PARTS)[1:])
            out = []
            for v, n, z in zip(a, amounts, c):
                n = n & 0xFF
                n = n & 31 if mode == "wrap" else min(n, 32)
                x = extended(v, *PARTS[pa], ta)
                x = x << n if op == "vshl" else x >> n
                out.append("_" if sat and not -(1 << 33) <= x < 1 << 33 else merged(clamped(x, PARTS[to][1], d) if sat else x, to, z))
            family.add(f"{op}.{d}.{ta}.u32{sat}.{mode}_merge", "parts, one part of the result", f"{op}.{d}.{ta}.u32{sat}.{mode} d.{to}, a.{pa}, b.b0, c;", [("d", "b32", out)])
    with Family("video_set", SOURCE, [("a", "b32", a), ("b", "b32", [x if i % 4 else y for i, (x, y) in enumerate(zip(b, a))]), ("c", "b32", c)]) as family:
        bb = [x if i % 4 else y for i, (x, y) in enumerate(zip(b, a))]
        for ta, tb, op, second in options(SIGNS, SIGNS, tuple(INTEGER_COMPARE), ("",) + tuple(SECOND)):
            f = INTEGER_COMPARE[op]
            out = [int(f(extended(v, 0, 32, ta), extended(w, 0, 32, tb))) for v, w in zip(a, bb)]
            if second:
                out = [unsigned(SECOND[second](x, z), 32) for x, z in zip(out, c)]
            name = f"vset.{ta}.{tb}.{op}{'.' + second if second else ''}"
            family.add(name, "one or zero, c unsigned", f"{name} d, a, b{', c' if second else ''};", [("d", "b32", out)])
        for ta, tb, op in options(SIGNS, SIGNS, tuple(INTEGER_COMPARE)):
            f = INTEGER_COMPARE[op]
            family.add(f"vset.{ta}.{tb}.{op}_merge", "into a byte", f"vset.{ta}.{tb}.{op} d.b2, a.b3, b.b1, c;",
                       [("d", "b32", [merged(int(f(extended(v, 24, 8, ta), extended(w, 8, 8, tb))), "b2", z) for v, w, z in zip(a, bb, c)])])


def mad():
    a, b, c = words(511), words(512)[::-1], words(513)
    with Family("video_mad", SOURCE, [("a", "b32", a), ("b", "b32", b), ("c", "b32", c)]) as family:
        def one(name, ta, tb, sat, scale, po=False, na=False, nb=False, nc=False, pa="", pb=""):
            final = ta[0] == "s" or tb[0] == "s" or na != nb or nc
            out = []
            for v, w, z in zip(a, b, c):
                t = extended(v, *PARTS[pa], ta) * extended(w, *PARTS[pb], tb)
                if na != nb:
                    t = -t
                z = z ^ 0xFFFFFFFF if nc else z
                t += (signed(z, 32) if final else z) + (1 if po or nc else 0)
                t >>= {"": 0, ".shr7": 7, ".shr15": 15}[scale]
                if sat:
                    # & 64 ones: what is clamped has 64 bits
                    t = signed(t, 64) if final else unsigned(t, 64)
                    t = clamped(t, 32, "s" if final else "u")
                out.append(unsigned(t, 32))
            dot = lambda part: "." + part if part else ""
            sign = lambda n: "-" if n else ""
            family.add(name, "product and sum", f"{name.split('_')[0]} d, {sign(na)}a{dot(pa)}, {sign(nb)}b{dot(pb)}, {sign(nc)}c;", [("d", "b32", out)])
        for d, ta, tb, po, sat, scale in options(SIGNS, SIGNS, SIGNS, ("", ".po"), ("", ".sat"), ("", ".shr7", ".shr15")):
            one(f"vmad.{d}.{ta}.{tb}{po}{sat}{scale}", ta, tb, sat, scale, po=bool(po))
        for ta, tb in options(SIGNS, SIGNS):
            one(f"vmad.s32.{ta}.{tb}.sat_na", ta, tb, ".sat", "", na=True)
            one(f"vmad.s32.{ta}.{tb}.sat_nb", ta, tb, ".sat", "", nb=True)
            one(f"vmad.s32.{ta}.{tb}_nc", ta, tb, "", "", nc=True)
            one(f"vmad.s32.{ta}.{tb}.shr7_parts", ta, tb, "", ".shr7", pa="h1", pb="b2")


def simd():
    a, b, c = words(521), words(522)[::-1], words(523)
    r = random.Random(524)
    for n, bits, unit in ((2, 16, "h"), (4, 8, "b")):
        def elements(v, w, select, t):
            pair = w << 32 | v
            return [extended(pair, bits * s, bits, t) for s in select]
        first, second = list(range(n)), list(range(n, 2 * n))

        def combine(t, mask, z, add):
            if add:
                return unsigned(z + sum(x for i, x in enumerate(t) if i in mask), 32)
            return sum(((unsigned(x, bits) if i in mask else z >> bits * i & (1 << bits) - 1) << bits * i) for i, x in enumerate(t))
        with Family(f"video_simd_{n}", SOURCE, [("a", "b32", a), ("b", "b32", b), ("c", "b32", c)]) as family:
            for op, d, ta, tb, end in options(tuple(BINARY), SIGNS, SIGNS, SIGNS, ("", ".sat", ".add")):
                out = []
                for v, w, z in zip(a, b, c):
                    t = [BINARY[op](x, y) for x, y in zip(elements(v, w, first, ta), elements(v, w, second, tb))]
                    if end == ".sat":
                        t = [clamped(x, bits, d) for x in t]
                    out.append(combine(t, first, z, end == ".add"))
                name = f"{op}{n}.{d}.{ta}.{tb}{end}"
                family.add(name, "element by element", f"{name} d, a, b, c;", [("d", "b32", out)])
            for ta, tb, op, end in options(SIGNS, SIGNS, tuple(INTEGER_COMPARE), ("", ".add")):
                f = INTEGER_COMPARE[op]
                out = [combine([int(f(x, y)) for x, y in zip(elements(v, w, first, ta), elements(v, w, second, tb))], first, z, end == ".add") for v, w, z in zip(a, b, c)]
                name = f"vset{n}.{ta}.{tb}.{op}{end}"
                family.add(name, "element by element", f"{name} d, a, b, c;", [("d", "b32", out)])
            masks = [[0], [1], [0, 1]] if n == 2 else [[i for i in range(4) if m >> i & 1] for m in range(1, 16)]
            for k, mask in enumerate(masks):
                for op in tuple(BINARY) + ("vset",):
                    select = [[r.randrange(2 * n) for _ in range(n)] for _ in range(2)]
                    ta, tb, add = r.choice(SIGNS), r.choice(SIGNS), k % 2 == 1
                    f = (lambda x, y: int(x < y)) if op == "vset" else BINARY[op]
                    out = [combine([f(x, y) for x, y in zip(elements(v, w, select[0], ta), elements(v, w, select[1], tb))], mask, z, add) for v, w, z in zip(a, b, c)]
                    text = lambda s: unit + "".join(str(x) for x in reversed(s))
                    types = f"{ta}.{tb}.lt" if op == "vset" else f"s32.{ta}.{tb}"
                    family.add(f"{op}{n}_{text(mask)}", "some elements, selected from both", f"{op}{n}.{types}{'.add' if add else ''} d.{text(mask)}, a.{text(select[0])}, b.{text(select[1])}, c;",
                               [("d", "b32", out)])


def write_all():
    scalar()
    mad()
    simd()
