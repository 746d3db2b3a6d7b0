"""Cases of memory, atomic, warp-wide, approximate and narrow-float instructions."""
import math
import random
import struct
from fractions import Fraction

from case_writer import case, slug
from exact import *

WARP = range(32)


def f32(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def of_f32(x):
    return struct.unpack("<f", struct.pack("<I", x))[0]


def samples(seed, count=32, width=32):
    r = random.Random(seed)
    return [r.getrandbits(width) for _ in range(count)]


# ---- warp ----------------------------------------------------------------------------------------------
def shuffle(mode, a, b, c):
    out, predicate = [], []
    for lane in WARP:
        bval, cval, mask = b[lane] & 31, c & 31, (c >> 8) & 31
        top, bottom = (lane & mask) | (cval & ~mask), lane & mask
        if mode == "up":
            j, p = lane - bval, lane - bval >= top
        elif mode == "down":
            j, p = lane + bval, lane + bval <= top
        elif mode == "bfly":
            j, p = lane ^ bval, (lane ^ bval) <= top
        else:
            j = bottom | (bval & ~mask & 31)
            p = j <= top
        out.append(a[j if p else lane])
        predicate.append(int(p))
    return out, predicate


def warp():
    a = samples(1)
    r = random.Random(5)
    for mode, clamps in (("up", (0, 0x1800, 0x1000)), ("down", (31, 0x181F, 0x100F, 20)), ("bfly", (31, 0x181F, 0x1C1F)),
                         ("idx", (31, 0x181F, 0x1810, 10))):
        for clamp in clamps:
            b = [r.choice([0, 1, 2, 3, 5, 8, 16, 31]) for _ in WARP]
            if mode == "idx":
                b = [r.randrange(32) for _ in WARP]
            d, p = shuffle(mode, a, b, clamp)
            case(f"shfl_sync_{mode}_{clamp:04x}", "a lane out of its segment keeps its own value",
                 f"shfl.sync.{mode}.b32 d|p, a, b, 0x{clamp:x}, 0xffffffff;", [("a", "b32", a), ("b", "b32", b)],
                 [("d", "b32", d), ("p", "pred", p)])
    some = [int(i % 3 == 0 or i == 7) for i in WARP]
    ballot = sum(x << i for i, x in enumerate(some))
    ins = [("c", "pred", some)]
    case("vote_ballot", "one bit per lane", "vote.sync.ballot.b32 d, c, 0xffffffff;", ins, [("d", "b32", [ballot] * 32)])
    case("vote_ballot_not", "a negated source", "vote.sync.ballot.b32 d, !c, 0xffffffff;", ins,
         [("d", "b32", [ballot ^ 0xFFFFFFFF] * 32)])
    for values, tag in ((some, "some"), ([1] * 32, "every"), ([0] * 32, "none")):
        case(f"vote_{tag}", "all, any and uni",
             "vote.sync.all.pred p, c, -1;\nvote.sync.any.pred q, c, -1;\nvote.sync.uni.pred r, c, -1;",
             [("c", "pred", values)], [("p", "pred", [int(all(values))] * 32), ("q", "pred", [int(any(values))] * 32),
                                       ("r", "pred", [int(len(set(values)) == 1)] * 32)])
    half = "setp.lt.u32 low_, tid_, 16;\n@low_ vote.sync.ballot.b32 d, c, 0x0000ffff;\n@!low_ vote.sync.ballot.b32 d, c, 0xffff0000;"
    case("vote_ballot_halves", "two masks of one warp", half, ins,
         [("d", "b32", [ballot & 0xFFFF] * 16 + [ballot & 0xFFFF0000] * 16)], extra=["reg .pred low_;"])
    few = [x % 5 for x in samples(9)]
    case("match_any_b32", "lanes with the same value", "match.any.sync.b32 d, a, 0xffffffff;", [("a", "b32", few)],
         [("d", "b32", [sum((y == x) << j for j, y in enumerate(few)) for x in few])])
    long = [x << 32 | (x & 1) for x in few]
    case("match_any_b64", "lanes with the same value", "match.any.sync.b64 d, a, 0xffffffff;", [("a", "b64", long)],
         [("d", "b32", [sum((y == x) << j for j, y in enumerate(long)) for x in long])])
    for values, tag in ((few, "different"), ([7] * 32, "same")):
        same = len(set(values)) == 1
        case(f"match_all_{tag}", "the mask when all agree, else zero", "match.all.sync.b32 d|p, a, 0xffffffff;",
             [("a", "b32", values)], [("d", "b32", [0xFFFFFFFF * same] * 32), ("p", "pred", [int(same)] * 32)])
    v = samples(11)
    for t in ("u32", "s32"):
        for op, f in (("add", lambda x: sum(x)), ("min", min), ("max", max)):
            case(f"redux_{op}_{t}", "over the warp", f"redux.sync.{op}.{t} d, a, 0xffffffff;", [("a", "b32", v)],
                 [("d", "b32", [unsigned(f([typed(x, t) for x in v]), 32)] * 32)])
    for op, f in (("and", lambda x, y: x & y), ("or", lambda x, y: x | y), ("xor", lambda x, y: x ^ y)):
        total = v[0]
        for x in v[1:]:
            total = f(total, x)
        case(f"redux_{op}_b32", "over the warp", f"redux.sync.{op}.b32 d, a, 0xffffffff;", [("a", "b32", v)],
             [("d", "b32", [total] * 32)])
    case("activemask_branch", "the lanes of the taken side",
         "mov.u32 d, 0;\n@c bra T;\nactivemask.b32 d;\nbra E;\nT: activemask.b32 d;\nE: bar.warp.sync 0xffffffff;", ins,
         [("d", "b32", [ballot if x else ballot ^ 0xFFFFFFFF for x in some])])
    case("elect_sync", "one leader of the lanes named", "setp.ge.u32 q, tid_, 4;\nmov.u32 d, 0;\nsetp.ne.u32 p, tid_, tid_;\n@q elect.sync d|p, 0xfffffff0;",
         [("a", "b32", v)], [("d", "b32", [0] * 4 + [4] * 28), ("p", "pred", [0] * 4 + [1] + [0] * 27)], "sm_90", ["reg .pred q;"])
    case("lane_registers", "special registers of a lane",
         "mov.u32 d, %laneid;\nmov.u32 e, %lanemask_lt;\nmov.u32 f, %lanemask_le;\nmov.u32 g, %lanemask_eq;\n"
         "mov.u32 h, %lanemask_ge;\nmov.u32 i, %lanemask_gt;", [("a", "b32", v)],
         [("d", "b32", list(WARP)), ("e", "b32", [(1 << i) - 1 for i in WARP]), ("f", "b32", [(2 << i) - 1 for i in WARP]),
          ("g", "b32", [1 << i for i in WARP]), ("h", "b32", [0xFFFFFFFF ^ ((1 << i) - 1) for i in WARP]),
          ("i", "b32", [0xFFFFFFFF ^ ((2 << i) - 1) for i in WARP])])
    # Across a block of 96 threads.
    c = [int(x % 3 == 0) for x in samples(13, 96)]
    ins = [("c", "pred", c)]
    case("bar_red_popc", "number of threads of the block with a true predicate", "bar.red.popc.u32 d, 0, c;", ins,
         [("d", "b32", [sum(c)] * 96)])
    case("bar_red_and", "of all threads", "bar.red.and.pred p, 0, c;\nbar.red.or.pred q, 1, c;", ins,
         [("p", "pred", [int(all(c))] * 96), ("q", "pred", [int(any(c))] * 96)])
    case("barrier_exchange", "shared memory behind a barrier",
         "mov.u32 p0, s;\nshl.b32 p1, tid_, 2;\nadd.u32 p1, p0, p1;\nst.shared.b32 [p1], a;\nbar.sync 0;\n"
         "sub.u32 p1, 95, tid_;\nshl.b32 p1, p1, 2;\nadd.u32 p1, p0, p1;\nld.shared.b32 d, [p1];",
         [("a", "b32", samples(14, 96))], [("d", "b32", samples(14, 96)[::-1])],
         extra=["module .shared .align 4 .b8 s[384];", "reg .b32 p<2>;"])


# ---- memory --------------------------------------------------------------------------------------------
def at(size, register="g", pointer="p0"):
    return f"mul.wide.u32 o0, tid_, {size};\nadd.u64 {pointer}, {register}, o0;\n"


REGS = ["reg .b64 p<4>, o<4>;"]


def memory():
    data = samples(21, 16, 64)
    for t in ("u8", "s8", "b8", "u16", "s16", "b16", "u32", "s32", "b32", "f32", "u64", "b64", "f64"):
        w = int(t[1:])
        values = [x & ((1 << w) - 1) for x in data]
        # Into a register twice as wide, where there is one: extended by the instruction's type.
        d = min(max(2 * w, 32), 64) if t[0] in "us" else max(w, 16)
        got = [unsigned(typed(x, t), d) if t[0] in "us" else x for x in values]
        for space, prepare, body in (
                ("global", "", at(w // 8) + f"ld.global.{t} d, [p0];"),
                ("generic", "", at(w // 8) + f"ld.{t} d, [p0];")):
            case(f"ld_{space}_{t}", "extended to its register", body, [("a", "b32", list(range(16)))], [("d", f"b{d}", got)],
                 extra=REGS + [f"mem g b{w}: " + " ".join(map(str, values))])
        if t[0] == "b" or t in ("s8", "u16"):
            body = at(w // 8) + f"st.global.{t} [p0], a;"
            case(f"st_global_{t}", "the low part of the register", body, [("a", f"b{max(w, 32)}", [x & ((1 << max(w, 32)) - 1) for x in data])], [],
                 extra=REGS + [f"mem g b{w}: " + " ".join(["1"] * 16) + " -> " + " ".join(map(str, values))])
            case(f"shared_{t}", "through shared memory",
                 "mov.u32 q0, s;\n" + f"mad.lo.u32 q0, tid_, {w // 8}, q0;\nst.shared.{t} [q0], a;\nld.shared.{t} d, [q0];",
                 [("a", f"b{max(w, 16)}", [x & ((1 << max(w, 16)) - 1) for x in data])],
                 [("d", f"b{max(w, 16)}", [unsigned(typed(x, t), max(w, 16)) if t[0] in "us" else x for x in values])],
                 extra=["module .shared .align 8 .b8 s[128];", "reg .b32 q<2>;"])
            case(f"local_{t}", "through local memory, generic address",
                 f"mov.u64 p0, l;\nst.local.{t} [p0+8], a;\ncvta.local.u64 p1, p0;\nld.{t} d, [p1+8];",
                 [("a", f"b{max(w, 16)}", [x & ((1 << max(w, 16)) - 1) for x in data])],
                 [("d", f"b{max(w, 16)}", [unsigned(typed(x, t), max(w, 16)) if t[0] in "us" else x for x in values])],
                 extra=["reg .b64 p<2>; .local .align 8 .b8 l[24];"])
    for w in (8, 16, 32, 64):
        for n in (2, 4):
            if w * n > 128:
                continue
            values = samples(22 + w + n, 8 * n, w)
            names = "abcd"[:n]
            case(f"ld_global_v{n}_b{w}", "elements in memory order",
                 at(w * n // 8) + f"ld.global.v{n}.b{w} {{{', '.join('v' + c for c in names)}}}, [p0];\n" +
                 "".join(f"mov.b{max(w, 16)} {c}, v{c};\n" for c in names),
                 [("x", "b32", list(range(8)))],
                 [(c, f"b{max(w, 16)}", values[i::n]) for i, c in enumerate(names)],
                 extra=REGS + [f"reg .b{max(w, 16)} {', '.join('v' + c for c in names)};", f"mem g b{w}: " + " ".join(map(str, values))])
            case(f"st_global_v{n}_b{w}", "elements in memory order",
                 at(w * n // 8) + f"st.global.v{n}.b{w} [p0], {{{', '.join(names)}}};",
                 [(c, f"b{max(w, 16)}", values[i::n]) for i, c in enumerate(names)], [],
                 extra=REGS + [f"mem g b{w}: " + " ".join(["0"] * len(values)) + " -> " + " ".join(map(str, values))])
    case("ld_const", "an initialised constant table", "mov.u64 p0, table;\nmul.wide.u32 o0, tid_, 4;\nadd.u64 p0, p0, o0;\nld.const.b32 d, [p0];",
         [("a", "b32", [0, 1, 2, 3])], [("d", "b32", [5, 0xFFFFFFFF, 7, 0])],
         extra=REGS + ["module .const .align 4 .b32 table[4] = {5, -1, 7};"])
    case("global_variable", "an initialised variable, by name and offset", "ld.global.b32 d, [table+4];\nld.global.u8 e, [table+10];",
         [("a", "b32", [0])], [("d", "b32", [0x01020304]), ("e", "b32", [0x0B])],
         extra=["module .global .align 4 .b32 table[3] = {9, 0x01020304, 0x0a0b0c0d};"])
    case("pointer_table", "addresses in an initialiser",
         "ld.global.u64 p0, [table+8];\nld.global.b32 d, [p0];\nld.global.u64 p1, [table];\nld.global.b32 e, [p1];",
         [("a", "b32", [0])], [("d", "b32", [22]), ("e", "b32", [11])],
         extra=["module .global .align 4 .b32 x[2] = {11, 22};", "module .global .align 8 .u64 table[2] = {x, x+4};", "reg .b64 p<2>;"])
    case("dynamic_shared_aliases", "every extern shared array starts at the same place", "mov.u32 d, one;\nmov.u32 e, two;\nsub.u32 d, d, e;",
         [("a", "b32", [0])], [("d", "b32", [0])],
         extra=["module .extern .shared .align 4 .b8 one[];", "module .extern .shared .align 16 .b8 two[];", "reg .b32 e;"])
    case("isspacep", "which window an address lies in",
         "mov.u64 p0, s;\ncvta.shared.u64 p0, p0;\nmov.u64 p1, l;\ncvta.local.u64 p1, p1;\nisspacep.shared p, p0;\nisspacep.shared q, p1;\n"
         "isspacep.local r, p1;\nisspacep.global t, g;\nisspacep.global u, p0;", [("a", "b32", [0])],
         [("p", "pred", [1]), ("q", "pred", [0]), ("r", "pred", [1]), ("t", "pred", [1]), ("u", "pred", [0])],
         extra=["module .shared .align 8 .b8 s[8];", "reg .b64 p<2>; .local .align 8 .b8 l[8];", "mem g b32: 1"])
    case("cvta_round_trip", "to generic and back", "mov.u64 p0, s;\nadd.u64 p0, p0, 4;\ncvta.shared.u64 p1, p0;\nst.b32 [p1], a;\n"
         "cvta.to.shared.u64 p2, p1;\nld.shared.b32 d, [p2];\nld.shared.b32 e, [s+4];", [("a", "b32", [77])],
         [("d", "b32", [77]), ("e", "b32", [77])], extra=["module .shared .align 8 .b8 s[8];"] + REGS)
    for op, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
        values = samples(40 + size, 8 * size // 4)
        case(f"cp_async_{op}_{size}", "visible after the wait",
             f"mov.u32 q0, s;\nmad.lo.u32 q0, tid_, {size}, q0;\n" + at(size) +
             f"cp.async.{op}.shared.global [q0], [p0], {size};\ncp.async.commit_group;\ncp.async.wait_group 0;\nld.shared.b32 d, [q0];\nld.shared.b32 e, [q0+{size - 4}];",
             [("a", "b32", list(range(8)))], [("d", "b32", values[::size // 4]), ("e", "b32", values[size // 4 - 1::size // 4])],
             extra=REGS + ["module .shared .align 16 .b8 s[128];", "reg .b32 q<2>;", "mem g b32: " + " ".join(map(str, values))])
    values = samples(50, 32)
    case("cp_async_zero_fill", "bytes beyond the source size are zero",
         "mov.u32 q0, s;\nmad.lo.u32 q0, tid_, 16, q0;\n" + at(16) +
         "cp.async.cg.shared.global [q0], [p0], 16, a;\ncp.async.wait_all;\nld.shared.v4.b32 {d, e, f, h}, [q0];",
         [("a", "b32", [0, 4, 8, 12, 16, 4, 0, 16])],
         [(c, "b32", [values[4 * i + k] if 4 * k < n else 0 for i, n in enumerate([0, 4, 8, 12, 16, 4, 0, 16])])
          for k, c in enumerate("defh")],
         extra=REGS + ["module .shared .align 16 .b8 s[128];", "reg .b32 q<2>;", "mem g b32: " + " ".join(map(str, values))])


def atomics():
    def one(name, op, t, before, operand, expected, second=None):
        w = 32 if t == "f16x2" else int(t[1:])
        register = f"b{w}"
        body = at(w // 8) + f"atom.global.{op}.{t} d, [p0], {'b, ' if second else ''}a;"
        ins = [("a", register, operand)] + ([("b", register, second)] if second else [])
        case(f"atom_{name}", "gives the old value", body, ins, [("d", register, before)],
             extra=REGS + [f"mem g b{w}: " + " ".join(map(str, before)) + " -> " + " ".join(map(str, expected))])
        if op.split(".")[0] not in ("cas", "exch"):
            case(f"red_{name}", "without a result", at(w // 8) + f"red.global.{op}.{t} [p0], a;", ins, [],
                 extra=REGS + [f"mem g b{w}: " + " ".join(map(str, before)) + " -> " + " ".join(map(str, expected))])
    for t in ("u32", "s32", "u64", "s64"):
        w = int(t[1:])
        x, y = samples(60 + w, 12, w), samples(61 + w, 12, w)
        if t != "s64":
            one(f"add_{t}", "add", t, x, y, [unsigned(p + q, w) for p, q in zip(x, y)])
        for op, f in (("min", min), ("max", max)):
            one(f"{op}_{t}", op, t, x, y, [unsigned(f(typed(p, t), typed(q, t)), w) for p, q in zip(x, y)])
    for w in (32, 64):
        x, y = samples(70 + w, 12, w), samples(71 + w, 12, w)
        for op, f in (("and", lambda p, q: p & q), ("or", lambda p, q: p | q), ("xor", lambda p, q: p ^ q)):
            one(f"{op}_b{w}", op, f"b{w}", x, y, [f(p, q) for p, q in zip(x, y)])
        one(f"exch_b{w}", "exch", f"b{w}", x, y, y)
        old = [p if i % 2 else p ^ 1 for i, p in enumerate(x)]
        one(f"cas_b{w}", "cas", f"b{w}", x, y, [q if i % 2 else p for i, (p, q) in enumerate(zip(x, y))], second=old)
    x, y = [0, 5, 6, 7, 0xFFFFFFFF, 3], [5, 5, 5, 5, 0xFFFFFFFF, 0]
    one("inc_u32", "inc", "u32", x, y, [0 if p >= q else p + 1 for p, q in zip(x, y)])
    one("dec_u32", "dec", "u32", x, y, [q if p == 0 or p > q else p - 1 for p, q in zip(x, y)])
    fx = [f32(v) for v in (1.5, -2.0, 1e10, 0.1, -0.0, 3.0)]
    fy = [f32(v) for v in (2.25, 2.0, 1.0, 0.2, -0.0, -7.5)]
    one("add_f32", "add", "f32", fx, fy, [f_add(F32, p, q) for p, q in zip(fx, fy)])
    dx = [F64.round(Fraction(v), "rn") for v in (1.5, -2.25, 1e10, 0.1)]
    dy = [F64.round(Fraction(v), "rn") for v in (2.25, 2.5, 1.0, 0.2)]
    one("add_f64", "add", "f64", dx, dy, [f_add(F64, p, q) for p, q in zip(dx, dy)])
    hx, hy = [0x3C00_4000, 0xBC00_3555, 0x7BFF_0001], [0x3C01_C000, 0x3C00_3C00, 0x7BFF_0001]
    one("add_noftz_f16x2", "add.noftz", "f16x2", hx, hy,
        [f_add(F16, p & 0xFFFF, q & 0xFFFF) | f_add(F16, p >> 16, q >> 16) << 16 for p, q in zip(hx, hy)])
    n = 64
    case("atom_add_same_address", "every thread adds to one word", "atom.global.add.u32 d, [g], a;", [("a", "b32", list(range(1, n + 1)))],
         [("d", "b32", ["_"] * n)], extra=[f"mem g b32: 10 -> {10 + n * (n + 1) // 2}"])
    case("atom_shared_add", "in shared memory", "setp.eq.u32 first, tid_, 0;\n@first st.shared.b32 [s], 0;\nbar.sync 0;\n"
         "atom.shared.add.u32 d, [s], a;\nbar.sync 0;\nld.shared.b32 e, [s];", [("a", "b32", [3] * n)],
         [("d", "b32", ["_"] * n), ("e", "b32", [3 * n] * n)], extra=["module .shared .align 4 .b32 s;", "reg .pred first;"])
    case("atom_generic_max", "through a generic address", "atom.max.u32 d, [g], a;", [("a", "b32", [4, 9, 2, 7])], [("d", "b32", ["_"] * 4)],
         extra=["mem g b32: 5 -> 9"])


# ---- approximations ------------------------------------------------------------------------------------
def approximations():
    r = random.Random(91)
    INF, NINF = 0x7F800000, 0xFF800000

    def run(name, op, xs, f, tolerance, special=(), text="within the documented error"):
        ins = [f32(x) for x in xs]
        outs = [f32(f(of_f32(x))) for x in ins]
        case(name, text, f"{op} d, a;", [("a", "f32", ins)], [("d", "f32", outs, tolerance)])
        if special:
            case(name + "_special", "special values", f"{op} d, a;", [("a", "f32", [x for x, _ in special])],
                 [("d", "f32", [y for _, y in special])])
    spread = [r.uniform(-20, 20) for _ in range(30)] + [r.uniform(-1, 1) for _ in range(20)] + [0.5, 1.0, 2.0, 3.0]
    positive = [abs(x) + 1e-3 for x in spread] + [2.0 ** r.randrange(-100, 100) * r.uniform(1, 2) for _ in range(20)]
    NANS = (0x7FC00000, NAN)
    run("ex2_approx_f32", "ex2.approx.f32", spread + [-130.5, -140.0, 127.5], lambda x: 2.0 ** x, "ulp 2",
        ((0, 0x3F800000), (0x80000000, 0x3F800000), (INF, INF), (NINF, 0), NANS, (f32(128.0), INF), (f32(-150.5), 0)))
    run("ex2_approx_ftz_f32", "ex2.approx.ftz.f32", spread, lambda x: 2.0 ** x, "ulp 2", ((f32(-126.5), 0), (1, 0x3F800000), (INF, INF)))
    run("lg2_approx_f32", "lg2.approx.f32", [x for x in positive if not 0.5 < x < 2], math.log2, "ulp 4",
        ((0, NINF), (0x80000000, NINF), (INF, INF), (f32(-1.0), NAN), NANS, (0x3F800000, 0), (1, f32(-149.0))))
    run("lg2_approx_near_one_f32", "lg2.approx.f32", [r.uniform(0.5, 2) for _ in range(40)], math.log2, "abs 2.4e-7")
    run("sin_approx_f32", "sin.approx.f32", [r.uniform(-math.pi, math.pi) for _ in range(50)], math.sin, "abs 6.8e-7",
        ((0, 0), (0x80000000, 0x80000000), (INF, NAN), (NINF, NAN), NANS))
    run("cos_approx_f32", "cos.approx.f32", [r.uniform(-math.pi, math.pi) for _ in range(50)], math.cos, "abs 6.8e-7",
        ((0, 0x3F800000), (0x80000000, 0x3F800000), (INF, NAN), NANS))
    run("tanh_approx_f32", "tanh.approx.f32", [x / 4 for x in spread], math.tanh, "ulp 8192",
        ((0, 0), (0x80000000, 0x80000000), (INF, 0x3F800000), (NINF, 0xBF800000), NANS))
    run("rcp_approx_ftz_f32", "rcp.approx.ftz.f32", [x for x in spread if x], lambda x: 1 / x, "ulp 1",
        ((0, INF), (0x80000000, NINF), (INF, 0), (NINF, 0x80000000), NANS, (1, INF), (0x7F7FFFFF, 0)))
    run("rsqrt_approx_f32", "rsqrt.approx.f32", positive, lambda x: 1 / math.sqrt(x), "ulp 2",
        ((0, INF), (0x80000000, NINF), (INF, 0), (f32(-1.0), NAN), NANS))
    run("sqrt_approx_f32", "sqrt.approx.f32", positive, math.sqrt, "ulp 2",
        ((0, 0), (0x80000000, 0x80000000), (INF, INF), (f32(-2.0), NAN), NANS))
    a, b = [f32(x) for x in spread], [f32(x) for x in positive[:len(spread)]]
    quotient = [f32(of_f32(x) / of_f32(y)) for x, y in zip(a, b)]
    for op in ("div.approx.f32", "div.full.f32"):
        case(slug(op), "two units in the last place", f"{op} d, a, b;", [("a", "f32", a), ("b", "f32", b)], [("d", "f32", quotient, "ulp 2")])
    h = [F16.round(Fraction(x) / 4, "rn") for x in spread]
    for op, f in (("ex2.approx.f16", lambda x: 2.0 ** x), ("tanh.approx.f16", math.tanh)):
        case(slug(op), "within the documented error", f"{op} d, a;", [("a", "f16", h)],
             [("d", "f16", [F16.round(Fraction(f(float(F16.value(x)))), "rn") for x in h], "ulp 2")])


# ---- 8-bit floats --------------------------------------------------------------------------------------
def narrow_floats():
    def values(name):
        mantissa, bias = (3, 7) if name == "e4m3" else (2, 15)
        out = {}
        for x in range(128):
            field, fraction = x >> mantissa, x & ((1 << mantissa) - 1)
            if (name == "e4m3" and x == 0x7F) or (name == "e5m2" and field == 31):
                continue
            out[x] = Fraction(fraction + (1 << mantissa if field else 0)) * Fraction(2) ** (max(field, 1) - bias - mantissa)
        return out

    def encode(name, x):
        if F32.is_nan(x):
            return 0x7F
        table = values(name)
        largest = max(table.values())
        sign = 0x80 if F32.negative(x) else 0
        v = abs(F32.value(x)) if not F32.is_inf(x) else largest
        if v >= largest:
            return sign | max(table)
        low = max(k for k, y in table.items() if y <= v)
        high = low + 1
        if v - table[low] > table[high] - v or (v - table[low] == table[high] - v and low & 1):
            low = high
        return sign | low
    r = random.Random(95)
    xs = [0.0, -0.0, 1.0, -1.0, 448.0, 450.0, 464.0, 500.0, -1e9, 57344.0, 60000.0, 65536.0, 2.0 ** -9, 2.0 ** -10, 2.0 ** -10 * 1.01,
          2.0 ** -16, 2.0 ** -17, 2.0 ** -17 * 1.5, 1.0625, 1.1875, 1.125, 1.375] + [r.choice([-1, 1]) * 2.0 ** r.uniform(-12, 10) for _ in range(30)]
    a = [f32(x) for x in xs] + [0x7F800000, 0xFF800000, 0x7FC00000]
    b = a[::-1]
    for name in ("e4m3", "e5m2"):
        case(f"cvt_rn_satfinite_{name}x2_f32", "a in the upper byte, b in the lower; out of range gives the largest",
             f"cvt.rn.satfinite.{name}x2.f32 d, a, b;", [("a", "f32", a), ("b", "f32", b)],
             [("d", "b16", [encode(name, x) << 8 | encode(name, y) for x, y in zip(a, b)])], "sm_89")

        def decode(byte):
            table = values(name)
            m = byte & 0x7F
            if m not in table:
                return F16.nan if name == "e4m3" or m & 3 else (0x7C00 | (byte & 0x80) << 8)
            return F16.round(table[m], "rn") | (byte & 0x80) << 8
        pairs = [i | (255 - i) << 8 for i in range(0, 256, 3)]
        case(f"cvt_rn_f16x2_{name}x2", "exact", f"cvt.rn.f16x2.{name}x2 d, a;", [("a", "b16", pairs)],
             [("d", "b32", [decode(x & 255) | decode(x >> 8) << 16 for x in pairs])], "sm_89")


def simd():
    a, b = samples(101, 24), samples(102, 24)
    a[:4], b[:4] = [0x7FFF8000, 0xFFFF0001, 0x80008000, 0], [0x00018000, 0x0001FFFF, 0x7FFFFFFF, 0xFFFFFFFF]
    for t in ("u16", "s16"):
        for op, f in (("add", lambda x, y: x + y), ("min", min), ("max", max)):
            half = lambda x, y, s: unsigned(f(typed(x >> s, t), typed(y >> s, t)), 16) << s
            case(f"{op}_{t}x2", "both halves", f"{op}.{t}x2 d, a, b;", [("a", "b32", a), ("b", "b32", b)],
                 [("d", "b32", [half(x, y, 0) | half(x, y, 16) for x, y in zip(a, b)])], "sm_90")


def video():
    a, b, c = samples(111, 24), samples(112, 24), [x & 0xFFFF for x in samples(113, 24)]
    a[:3], b[:3] = [0x80FF7F00, 0xFFFFFFFF, 0], [0x7F0080FF, 0, 0xFFFFFFFF]
    for n, w in ((4, 8), (2, 16)):
        for t in ("u32", "s32"):
            lane = lambda x, i: typed(x >> (w * i), t[0] + str(w)) if t[0] == "u" else signed(x >> (w * i), w)
            packed = lambda v: sum(unsigned(x, w) << (w * i) for i, x in enumerate(v))
            ins = [("a", "b32", a), ("b", "b32", b), ("c", "b32", c)]
            for op, f in (("vadd", lambda x, y: x + y), ("vsub", lambda x, y: x - y), ("vmin", min), ("vmax", max),
                          ("vabsdiff", lambda x, y: abs(x - y))):
                if (op in ("vmin", "vmax", "vadd", "vsub") and n == 4) or op == "vabsdiff":
                    case(f"{op}{n}_{t}", "lane by lane", f"{op}{n}.{t}.{t}.{t} d, a, b, c;", ins,
                         [("d", "b32", [packed([f(lane(x, i), lane(y, i)) for i in range(n)]) for x, y in zip(a, b)])])
            if t == "u32":
                case(f"vabsdiff{n}_add_{t}", "the sum over lanes, plus c", f"vabsdiff{n}.{t}.{t}.{t}.add d, a, b, c;", ins,
                     [("d", "b32", [unsigned(z + sum(abs(lane(x, i) - lane(y, i)) for i in range(n)), 32) for x, y, z in zip(a, b, c)])])


def barriers():
    n = 64
    case("mbarrier_arrive_wait", "shared memory behind an mbarrier, two phases",
         "mov.u32 q0, bar;\nsetp.eq.u32 first, tid_, 0;\n@first mbarrier.init.shared.b64 [q0], 64;\nbar.sync 0;\n"
         "mov.u32 q1, s;\nmad.lo.u32 q2, tid_, 4, q1;\nst.shared.b32 [q2], a;\nmbarrier.arrive.shared.b64 state, [q0];\n"
         "W1: mbarrier.test_wait.shared.b64 done, [q0], state;\n@!done bra W1;\nsub.u32 q3, 63, tid_;\nmad.lo.u32 q3, q3, 4, q1;\n"
         "ld.shared.b32 d, [q3];\nmbarrier.arrive.shared.b64 state, [q0];\nW2: mbarrier.test_wait.shared.b64 done, [q0], state;\n@!done bra W2;\n"
         "st.shared.b32 [q3], tid_;\nbar.sync 0;\nld.shared.b32 e, [q2];",
         [("a", "b32", samples(121, n))], [("d", "b32", samples(121, n)[::-1]), ("e", "b32", list(range(n))[::-1])],
         extra=["module .shared .align 8 .b64 bar;", "module .shared .align 4 .b8 s[256];", "reg .b32 q<4>;", "reg .b64 state;", "reg .pred done, first;"])
    case("bar_named_subset", "a named barrier of half the block", "setp.lt.u32 low, tid_, 32;\nmov.u32 q1, s;\nmad.lo.u32 q2, tid_, 4, q1;\nmov.u32 d, 0;\n"
         "@!low bra E;\nst.shared.b32 [q2], a;\nbar.sync 3, 32;\nxor.b32 q3, tid_, 31;\nmad.lo.u32 q3, q3, 4, q1;\nld.shared.b32 d, [q3];\nE:",
         [("a", "b32", samples(122, n))], [("d", "b32", samples(122, n)[:32][::-1] + [0] * 32)],
         extra=["module .shared .align 4 .b8 s[128];", "reg .b32 q<4>;", "reg .pred low;"])


def control():
    n = list(range(20))
    case("loop", "sum of 1 .. n", "mov.u32 d, 0;\nmov.u32 i, a;\nL: setp.eq.u32 done, i, 0;\n@done bra E;\nadd.u32 d, d, i;\nsub.u32 i, i, 1;\nbra L;\nE:",
         [("a", "b32", n)], [("d", "b32", [x * (x + 1) // 2 for x in n])], extra=["reg .b32 i;", "reg .pred done;"])
    case("divergent_branches", "four ways", "and.b32 i, a, 3;\nsetp.lt.u32 q, i, 2;\n@q bra LOW;\nsetp.eq.u32 q, i, 2;\n@q bra TWO;\nmov.u32 d, 30;\nbra E;\n"
         "TWO: mov.u32 d, 20;\nbra E;\nLOW: setp.eq.u32 q, i, 1;\nmov.u32 d, 0;\n@q mov.u32 d, 10;\nE: add.u32 d, d, i;",
         [("a", "b32", n)], [("d", "b32", [x % 4 * 11 for x in n])], extra=["reg .b32 i;", "reg .pred q;"])
    case("brx_idx", "a jump table", "T: .branchtargets A, B, C;\nbrx.idx a, T;\nA: mov.u32 d, 5;\nbra E;\nB: mov.u32 d, 6;\nbra E;\nC: mov.u32 d, 7;\nE:",
         [("a", "b32", [x % 3 for x in n])], [("d", "b32", [x % 3 + 5 for x in n])])
    square = "module .func (.param .b32 r) square(.param .b32 x) { .reg .b32 t; ld.param.b32 t, [x]; mul.lo.u32 t, t, t; st.param.b32 [r], t; ret; }"
    call = "{ .param .b32 x; .param .b32 r;\nst.param.b32 [x], a;\ncall.uni (r), square, (x);\nld.param.b32 d, [r]; }"
    case("call", "a function with a parameter and a result", call, [("a", "b32", n)], [("d", "b32", [x * x for x in n])], extra=[square])
    case("call_divergent", "called by some lanes", "mov.u32 d, 1;\nand.b32 i, a, 1;\nsetp.eq.u32 q, i, 0;\n@q bra E;\n" + call + "\nE:",
         [("a", "b32", n)], [("d", "b32", [x * x if x % 2 else 1 for x in n])], extra=[square, "reg .b32 i;", "reg .pred q;"])
    case("call_indirect", "through a function's address, two callees",
         "mov.u64 p0, square;\nmov.u64 p1, twice;\nand.b32 i, a, 1;\nsetp.eq.u32 q, i, 0;\nselp.b64 p0, p0, p1, q;\n"
         "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n" + call.replace("call.uni (r), square, (x);", "call (r), p0, (x), P;"),
         [("a", "b32", n)], [("d", "b32", [2 * x if x % 2 else x * x for x in n])],
         extra=[square, square.replace("square", "twice").replace("mul.lo.u32 t, t, t", "add.u32 t, t, t"), "reg .b32 i;", "reg .pred q;", "reg .b64 p<2>;"])
    fact = ("module .func (.param .b32 r) fact(.param .b32 x) { .reg .b32 t, u; .reg .pred p; ld.param.b32 t, [x]; setp.gt.u32 p, t, 1; @p bra M; "
            "st.param.b32 [r], 1; ret; M: sub.u32 u, t, 1; { .param .b32 y; .param .b32 s; st.param.b32 [y], u; call (s), fact, (y); ld.param.b32 u, [s]; } "
            "mul.lo.u32 t, t, u; st.param.b32 [r], t; ret; }")
    case("call_recursive", "n! modulo 2^32, different depths in one warp", call.replace("square", "fact"), [("a", "b32", n)],
         [("d", "b32", [math.factorial(x) & 0xFFFFFFFF for x in n])], extra=[fact])
    case("exit_some_lanes", "lanes that left do not hold up a barrier", "setp.ge.u32 q, tid_, 8;\n@q bra OUT;\nbra GO;\nOUT: exit;\nGO: bar.sync 0;\nmov.u32 d, 3;",
         [("a", "b32", list(range(16)))], [("d", "b32", [3] * 8 + ["_"] * 8)], extra=["reg .pred q;"])
    for name, body, fault, extra in (
            ("trap", "trap;", "trap", []),
            ("out_of_bounds", "ld.global.b32 d, [g+8];\nst.global.b32 [g], d;", "out-of-bounds", ["mem g b32: 1 2", "reg .b32 d;"]),
            ("misaligned", "ld.global.b32 d, [g+2];\nst.global.b32 [g], d;", "misaligned-access", ["mem g b32: 1 2", "reg .b32 d;"]),
            ("null", "mov.u64 p0, 0;\nld.global.b32 d, [p0];\nst.global.b32 [g], d;", "null-access", ["mem g b32: 1 2", "reg .b32 d;", "reg .b64 p0;"]),
            ("shared_out_of_bounds", "ld.shared.b32 d, [s+16];\nst.global.b32 [g], d;", "out-of-bounds",
             ["module .shared .align 4 .b8 s[16];", "mem g b32: 1", "reg .b32 d;"]),
            ("uninitialised_shared", "ld.shared.b32 d, [s];\nst.global.b32 [g], d;", "uninitialised-read",
             ["module .shared .align 4 .b8 s[16];", "mem g b32: 1", "reg .b32 d;"])):
        case(f"fault_{name}", "a fault ends the launch", body, [("a", "b32", [1])], [], extra=[f"fault {fault}"] + extra)


def write_all():
    warp()
    memory()
    atomics()
    approximations()
    narrow_floats()
    simd()
    video()
    barriers()
    control()
