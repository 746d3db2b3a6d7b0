"""Cases of wmma: every layout, shape, type and space. The layout of fragments is not specified, so each case goes from memory to memory."""
import random
from fractions import Fraction

from case_writer import Family
from exact import *
from form_cases import options

SOURCE = "matrix products of small integers, which are exact in every format"
SPACES = ("", ".global", ".shared", ".shared::cta")
SIZES = {"f16": 16, "bf16": 16, "u8": 8, "s8": 8, "tf32": 32, "f64": 64, "f32": 32, "s32": 32, "u4": 4, "s4": 4, "b1": 1}


def encode(x, t):
    if t in ("f16", "bf16", "f32", "f64", "tf32"):
        return {"f16": F16, "bf16": BF16, "f32": F32, "tf32": F32, "f64": F64}[t].round(Fraction(x), "rn")
    return unsigned(x, SIZES[t])


def laid_out(matrix, layout, t):
    """A matrix as words of a buffer: its type's own size, but at least 8 bits with the first element lowest."""
    rows = matrix if layout == "row" else [list(c) for c in zip(*matrix)]
    values = [encode(x, t) for row in rows for x in row]
    w = SIZES[t]
    if w >= 8:
        return f"b{w}", values
    return "b32", [sum(v << w * k for k, v in enumerate(values[i:i + 32 // w])) for i in range(0, len(values), 32 // w)]


def copy(number, size, source, target):
    """A loop of the warp that copies `size` bytes."""
    put, get = ("global", "shared") if target.startswith("[g") else ("shared", "global")
    return (f"mul.lo.u32 i, tid_, 4;\nL{number}: setp.ge.u32 q, i, {size};\n@q bra E{number};\ncvt.u64.u32 o, i;\n"
            f"add.u64 at0, {source}, o;\nadd.u64 at1, {target[1:-1]}, o;\nld.{get}.b32 w, [at0];\nst.{put}.b32 [at1], w;\nadd.u32 i, i, 128;\nbra L{number};\nE{number}:\n")


def family(name, shape, ab, dc, counts, k_name, forms, target=None, limit=2):
    """forms: (layout a, layout b, d type, c type, modifiers before the types, op) with a space for each."""
    m, n, k = shape
    r = random.Random(f"{shape}{ab}")
    low = 0 if ab[0] in "ub" and ab != "bf16" else -limit
    high = 1 if ab == "b1" else limit
    a = [[r.randint(low, high) for _ in range(k)] for _ in range(m)]
    b = [[r.randint(low, high) for _ in range(n)] for _ in range(k)]
    declare = ["reg .b32 i, w;", "reg .b64 o, at0, at1, sa, sb, sc, sd;", "reg .pred q;"]
    bits = 64 if ab == "f64" else 32
    na, nb, nc16, nc32 = counts
    declare += [f"reg .b{bits} a<{na}>, b<{nb}>;"]
    size = lambda rows, columns, t: rows * columns * SIZES[t] // 8
    words = lambda v: " ".join(str(x) for x in v)
    for which, matrix in (("a", a), ("b", b)):
        for layout in ("row", "col"):
            w, v = laid_out(matrix, layout, ab)
            declare.append(f"mem g{which}_{layout} {w}: {words(v)}")
    sat = [[(0x7FFFFFFF - 3 if (i + j) % 3 == 0 else -0x80000000 + 2 if (i + j) % 3 == 1 else i - j) for j in range(n)] for i in range(m)]
    plain = [[(i * 3 + j * 5) % 9 - 4 for j in range(n)] for i in range(m)]
    with Family(name, SOURCE, [("t", "b32", list(range(32)))], declare, target) as out:
        for la, lb, lc, ld, td, tc, rnd, finite, op, space in forms:
            c = sat if td == "s32" and not op else plain
            result = [[0] * n for _ in range(m)]
            for i in range(m):
                for j in range(n):
                    if op:
                        s = sum((a[i][x] & b[x][j]) if op == "and" else (a[i][x] ^ b[x][j]) for x in range(k))
                    else:
                        s = sum(a[i][x] * b[x][j] for x in range(k))
                    s += c[i][j]
                    result[i][j] = min(max(s, -(1 << 31)), (1 << 31) - 1) if finite else s
            wc, vc = laid_out(c, lc, tc)
            wd, vd = laid_out(result, ld, td)
            cbits = 64 if tc == "f64" else 32
            nc, nd = (nc16 if tc == "f16" else nc32), (nc16 if td == "f16" else nc32)
            extra = [f"mem gc {wc}: {words(vc)}", f"mem gd {wd}: {words([0] * len(vd))} -> {words(vd)}", f"reg .b{cbits} c<{nc}>, d<{nd}>;"]
            sizes = [size(m, k, ab), size(k, n, ab), size(m, n, tc), size(m, n, td)]
            group = lambda letter, count: "{" + ", ".join(f"{letter}{i}" for i in range(count)) + "}"
            place = {"a": f"ga_{la}", "b": f"gb_{lb}", "c": "gc", "d": "gd"}
            before = after = ""
            if space.startswith(".shared"):
                offsets = [0, sizes[0], sizes[0] + sizes[1], sum(sizes[:3])]
                offsets = [(x + 31) // 32 * 32 + 32 * i for i, x in enumerate(offsets)]
                extra.append(f"module .shared .align 32 .b8 s[{offsets[3] + sizes[3] + 32}];")
                for number, (letter, offset) in enumerate(zip("abcd", offsets)):
                    before += f"mov.u64 s{letter}, s;\nadd.u64 s{letter}, s{letter}, {offset};\n"
                    if letter != "d":
                        before += copy(number, sizes[number], place[letter], f"[s{letter}]")
                before += "bar.warp.sync 0xffffffff;\n"
                after = "\nbar.warp.sync 0xffffffff;\n" + copy(3, sizes[3], "sd", "[gd]")
                place = {x: f"s{x}" for x in "abcd"}
            stride = {"a": k if la == "row" else m, "b": n if lb == "row" else k, "c": n if lc == "row" else m, "d": n if ld == "row" else m}
            load = "".join(f"wmma.load.{x}.sync.aligned.{l}.{k_name}{space}.{t} {group(x, count)}, [{place[x]}], {stride[x]};\n"
                           for x, l, t, count in (("a", la, ab, na), ("b", lb, ab, nb), ("c", lc, tc, nc)))
            types = f"{td}.{tc}" if ab == "f16" else f"{td}.{ab}.{ab}.{tc}"
            mma = f"wmma.mma{f'.{op}.popc' if op else ''}.sync.aligned.{la}.{lb}.{k_name}{rnd}.{types}{finite}"
            body = before + load + f"{mma} {group('d', nd)}, {group('a', na)}, {group('b', nb)}, {group('c', nc)};\n" + \
                f"wmma.store.d.sync.aligned.{ld}.{k_name}{space}.{td} [{place['d']}], {group('d', nd)}, {stride['d']};" + after
            out.add(f"{mma}_{lc}_{ld}{space}", "from memory to memory", body, [], extra=extra)


def write_all():
    layouts = list(options(("row", "col"), ("row", "col")))
    # c and d take the layouts the other way round in a second round, so that each is loaded and stored in both
    for shape in ((16, 16, 16), (8, 32, 16), (32, 8, 16)):
        name = "m{}n{}k{}".format(*shape)
        m, n, k = shape
        forms = [(la, lb, lb, la, td, tc, "", "", "", SPACES[(i + j) % 3]) for i, (la, lb) in enumerate(layouts) for j, (td, tc) in enumerate(options(("f16", "f32"), ("f16", "f32")))]
        forms += [(la, lb, la, lb, t, t, "", "", "", space) for la, lb in (("row", "row"), ("col", "col")) for t in ("f16", "f32") for space in SPACES]
        family(f"wmma_{name}_f16", shape, "f16", None, (8, 8, 4, 8), name, dedup(forms))
        forms = [(la, lb, lb, la, "f32", "f32", "", "", "", SPACES[i % 3]) for i, (la, lb) in enumerate(layouts)]
        forms += [(la, la, la, la, "f32", "f32", "", "", "", space) for la in ("row", "col") for space in SPACES]
        family(f"wmma_{name}_bf16", shape, "bf16", None, (m * k // 64, k * n // 64, 4, 8), name, dedup(forms))
        for t in ("u8", "s8"):
            forms = [(la, lb, lb, la, "s32", "s32", "", finite, "", SPACES[i % 3]) for i, (la, lb) in enumerate(layouts) for finite in ("", ".satfinite")]
            forms += [(la, la, la, la, "s32", "s32", "", "", "", space) for la in ("row", "col") for space in SPACES]
            family(f"wmma_{name}_{t}", shape, t, None, (m * k // 128, k * n // 128, 4, 8), name, dedup(forms))
    forms = [(la, lb, lb, la, "f32", "f32", "", "", "", SPACES[i % 3]) for i, (la, lb) in enumerate(layouts)]
    forms += [(la, la, la, la, "f32", "f32", "", "", "", space) for la in ("row", "col") for space in SPACES]
    family("wmma_m16n16k8_tf32", (16, 16, 8), "tf32", None, (4, 4, 4, 8), "m16n16k8", dedup(forms))
    forms = [(la, lb, lb, la, "f64", "f64", rnd, "", "", SPACES[i % 3]) for i, (la, lb) in enumerate(layouts) for rnd in ("", ".rn")]
    forms += [(la, la, la, la, "f64", "f64", "", "", "", space) for la in ("row", "col") for space in SPACES]
    family("wmma_m8n8k4_f64", (8, 8, 4), "f64", None, (1, 1, 2, 2), "m8n8k4", dedup(forms))
    for t in ("u4", "s4"):
        forms = [("row", "col", lc, ld, "s32", "s32", "", finite, "", space) for lc, ld, finite, space in
                 (("row", "row", "", ""), ("col", "col", ".satfinite", ".global"), ("row", "row", "", ".shared"), ("col", "col", "", ""), ("row", "row", "", ".global"), ("col", "col", "", ".shared"),
                  ("row", "row", "", ".shared::cta"), ("col", "col", "", ".shared::cta"))]
        family(f"wmma_m8n8k32_{t}", (8, 8, 32), t, None, (1, 1, 2, 2), "m8n8k32", forms)
    forms = [("row", "col", lc, lc, "s32", "s32", "", "", op, space) for i, (lc, space) in enumerate(options(("row", "col"), SPACES)) for op in (("xor", "and")[i % 2],)]
    forms += [("row", "col", "row", "row", "s32", "s32", "", "", "xor", ".global"), ("row", "col", "col", "row", "s32", "s32", "", "", "and", ".global")]
    family("wmma_m8n8k128_b1", (8, 8, 128), "b1", None, (1, 1, 2, 2), "m8n8k128", dedup(forms))


def dedup(forms):
    seen, out = set(), []
    for f in forms:
        if f not in seen:
            seen.add(f)
            out.append(f)
    return out
