"""Cases of loads, stores, hints, address conversion and atomics in every space, type, vector and modifier."""
import random
from fractions import Fraction

from case_writer import Family
from exact import *
from form_cases import options

SOURCE = "the ISA's text; bytes in little-endian order, laid out by Python"
N = 4  # threads
SCALARS = ("b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f32", "f64")
REGS = ["reg .b64 p<4>, o<4>, policy;", "reg .b32 q<4>;"]
IDENTITY = ("module .func (.param .align 16 .b8 r[32]) same(.param .align 16 .b8 x[32]) { .reg .b32 t<8>; "
            + " ".join(f"ld.param.b32 t{i}, [x+{4 * i}];" for i in range(8)) + " "
            + " ".join(f"st.param.b32 [r+{4 * i}], t{i};" for i in range(8)) + " ret; }")


def shapes():
    """(modifiers, type, elements): what a load or store may move."""
    for t in SCALARS:
        for n in (1, 2, 4):
            if n * int(t[1:]) <= 128:
                yield t, n
    yield "b128", 1


def words(seed, count=8):
    r = random.Random(seed)
    return [[r.getrandbits(32) for _ in range(N)] for _ in range(count)]


def register_bits(t):
    """A destination register wider than the type where there is one, so that extension is seen."""
    w = int(t[1:])
    return min(max(2 * w, 32), 64) if t[0] in "us" else max(w, 16)


class Space:
    """How a thread's own 32 bytes of a space are reached: `setup` leaves the address in `address`."""

    def __init__(self, name, setup, address, extra, after="", where=None):
        self.name, self.setup, self.address, self.extra, self.after = name, setup, address, extra, after
        self.where = where or name  # the space of the plain instructions around the one that is shown


SPACES = [
    Space("", "mul.wide.u32 o0, tid_, 32;\nadd.u64 p0, g, o0;\n", "p0", ["mem g b32: " + " ".join(["0"] * 8 * N) + " -> " + " ".join(["_"] * 8 * N)], where=".global"),
    Space(".global", "mul.wide.u32 o0, tid_, 32;\nadd.u64 p0, g, o0;\n", "p0", ["mem g b32: " + " ".join(["0"] * 8 * N) + " -> " + " ".join(["_"] * 8 * N)]),
    Space(".shared", "mov.u32 q0, s;\nmad.lo.u32 q0, tid_, 32, q0;\n", "q0", [f"module .shared .align 32 .b8 s[{32 * N}];"]),
    Space(".local", "mov.u64 p0, l;\n", "p0", ["reg .b32 unused_; .local .align 32 .b8 l[32];"]),
]


def slots(data):
    """Words by thread to the words of a buffer with 8 per thread."""
    return [data[i][t] for t in range(N) for i in range(8)]


def element(data, thread, t, i):
    """The i-th element of type t in a thread's words."""
    w = int(t[1:]) // 8
    raw = b"".join(column[thread].to_bytes(4, "little") for column in data)
    return int.from_bytes(raw[i * w:(i + 1) * w], "little")


def loaded(data, t, i):
    return [unsigned(typed(element(data, thread, t, i), t), register_bits(t)) if t[0] in "us" else element(data, thread, t, i) for thread in range(N)]


def load_text(op, t, n, address):
    """The instruction, its outputs' registers, and declarations."""
    names = [f"d{i}" for i in range(n)]
    if t == "b128":
        return f"{op}.b128 wide, [{address}];\nmov.b128 {{d0, d1}}, wide;", ["d0", "d1"], ["reg .b128 wide;"]
    list_of = names[0] if n == 1 else "{" + ", ".join(names) + "}"
    return f"{op}{f'.v{n}' if n > 1 else ''}.{t} {list_of}, [{address}];", names, []


def load_outs(data, t, n):
    if t == "b128":
        return [(f"d{i}", "b64", loaded(data, "u64", i)) for i in range(2)]
    return [(f"d{i}", f"b{register_bits(t)}", loaded(data, t, i)) for i in range(n)]


def store_text(op, t, n, address):
    if t == "b128":
        return f"mov.b128 wide, {{v0, v1}};\n{op}.b128 [{address}], wide;", ["reg .b128 wide;"]
    list_of = "v0" if n == 1 else "{" + ", ".join(f"v{i}" for i in range(n)) + "}"
    return f"{op}{f'.v{n}' if n > 1 else ''}.{t} [{address}], {list_of};", []


def store_ins(seed, t, n):
    r = random.Random(f"{seed}{t}{n}")
    w = 64 if t == "b128" else max(int(t[1:]), 16)
    return [(f"v{i}", f"b{w}", [r.getrandbits(w) for _ in range(N)]) for i in range(2 if t == "b128" else n)]


def stored_words(ins, t):
    """The words that a store of these registers leaves, zero where it does not write."""
    w = 8 if t == "b128" else int(t[1:]) // 8
    out = [[0] * N for _ in range(8)]
    for thread in range(N):
        raw = b"".join((values[thread] & (1 << 8 * w) - 1).to_bytes(w, "little") for _, _, values in ins).ljust(32, b"\0")
        for i in range(8):
            out[i][thread] = int.from_bytes(raw[4 * i:4 * i + 4], "little")
    return out


def fill(where, address, data="w"):
    return "".join(f"st{where}.b32 [{address}+{4 * i}], {f'w{i}' if data else '0'};\n" for i in range(8))


def word_inputs(data):
    return [(f"w{i}", "b32", column) for i, column in enumerate(data)]


def loads():
    data = words(401)
    for space in SPACES:
        with Family(f"ld{space.name.replace('.', '_') or '_generic'}_forms", SOURCE, word_inputs(data), REGS + space.extra, "sm_80") as family:
            for t, n in shapes():
                text, names, extra = load_text(f"ld{space.name}", t, n, space.address)
                family.add(f"ld{space.name}.{'v%d.' % n if n > 1 else ''}{t}", "each element from its bytes", space.setup + fill(space.where, space.address) + text,
                           load_outs(data, t, n), extra=extra)
    raw = [column[t] for t in range(N) for column in data]
    table = ", ".join(str(x) for x in raw)
    with Family("ld_const_forms", SOURCE, [("a", "b32", list(range(N)))], REGS + [f"module .const .align 32 .b32 table[{8 * N}] = {{{table}}};"], "sm_80") as family:
        for t, n in shapes():
            text, names, extra = load_text("ld.const", t, n, "p0")
            family.add(f"ld.const.{'v%d.' % n if n > 1 else ''}{t}", "each element from its bytes",
                       "mov.u64 p0, table;\nmul.wide.u32 o0, tid_, 32;\nadd.u64 p0, p0, o0;\n" + text, load_outs(data, t, n), extra=extra)
    with Family("ld_param_forms", SOURCE, word_inputs(data), REGS + [IDENTITY], "sm_80") as family:
        for t, n in shapes():
            text, names, extra = load_text("ld.param", t, n, "r")
            family.add(f"ld.param.{'v%d.' % n if n > 1 else ''}{t}", "of a returned parameter",
                       "{ .param .align 16 .b8 x[32]; .param .align 16 .b8 r[32];\n" + fill(".param", "x") + "call.uni (r), same, (x);\n" + text + " }",
                       load_outs(data, t, n), extra=extra)
    for kind, op, extra in (("nc", "ld.global.nc", []), ("ldu", "ldu", []), ("ldu_global", "ldu.global", [])):
        with Family(f"ld_{kind}_forms", SOURCE, [("a", "b32", list(range(N)))], REGS + ["mem g b32: " + " ".join(map(str, raw))], "sm_80") as family:
            for t, n in shapes():
                text, names, extra = load_text(op, t, n, "p0")
                family.add(f"{op}.{'v%d.' % n if n > 1 else ''}{t}", "each element from its bytes", SPACES[0].setup + text, load_outs(data, t, n), extra=extra)


def stores():
    for space in SPACES:
        with Family(f"st{space.name.replace('.', '_') or '_generic'}_forms", SOURCE, (), REGS + space.extra, "sm_80") as family:
            for t, n in shapes():
                text, extra = store_text(f"st{space.name}", t, n, space.address)
                ins = store_ins(402, t, n)
                out = stored_words(ins, t)
                count = max(1, (16 if t == "b128" else n * int(t[1:]) // 8) // 4)
                family.add(f"st{space.name}.{'v%d.' % n if n > 1 else ''}{t}", "the low bytes of each element, in order",
                           space.setup + fill(space.where, space.address, "") + text + "\n" +
                           "".join(f"ld{space.where}.b32 e{i}, [{space.address}+{4 * i}];\n" for i in range(count + 1)),
                           [(f"e{i}", "b32", out[i]) for i in range(count + 1)], ins, extra)
    with Family("st_param_forms", SOURCE, (), REGS + [IDENTITY], "sm_80") as family:
        for t, n in shapes():
            text, extra = store_text("st.param", t, n, "x")
            ins = store_ins(403, t, n)
            out = stored_words(ins, t)
            count = max(1, (16 if t == "b128" else n * int(t[1:]) // 8) // 4)
            family.add(f"st.param.{'v%d.' % n if n > 1 else ''}{t}", "of an argument",
                       "{ .param .align 16 .b8 x[32]; .param .align 16 .b8 r[32];\n" + fill(".param", "x", "") + text + "\ncall.uni (r), same, (x);\n" +
                       "".join(f"ld.param.b32 e{i}, [r+{4 * i}];\n" for i in range(count + 1)) + "}",
                       [(f"e{i}", "b32", out[i]) for i in range(count + 1)], ins, extra)


EVICTION = ("L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate")
POLICY = "createpolicy.fractional.L2::evict_last.b64 policy;\n"


def modifiers():
    """Cache operators, eviction, prefetch sizes, policies, ordering and scopes: none changes what one thread reads back."""
    data = words(404)
    spaces = {s.name: s for s in SPACES}
    one = [("d0", "b32", data[0])]
    note = "the modifier changes no value"
    for name, space in spaces.items():
        with Family(f"ld_st{name.replace('.', '_') or '_generic'}_modifiers", SOURCE, word_inputs(data), REGS + space.extra, "sm_90") as family:
            def load(op, text=note, before="", after="", data_type="b32"):
                family.add(f"{op}.{data_type}", text, space.setup + fill(space.where, space.address) + before + f"{op}.{data_type} d0, [{space.address}]{after};", one)

            def store(op, text=note, before="", after=""):
                family.add(f"{op}.b32", text, space.setup + fill(space.where, space.address) + before + f"{op}.b32 [{space.address}], w3{after};\n"
                           f"ld{space.where}.b32 d0, [{space.address}];", [("d0", "b32", data[3])])
            load(f"ld.weak{name}")
            store(f"st.weak{name}")
            for cop in ("ca", "cg", "cs", "lu", "cv"):
                load(f"ld{name}.{cop}")
            for cop in ("wb", "cg", "cs", "wt"):
                store(f"st{name}.{cop}")
            if name != ".local":  # ptxas refuses .volatile there
                load(f"ld.volatile{name}")
                store(f"st.volatile{name}")
            if name in ("", ".global"):
                for level in EVICTION:
                    load(f"ld{name}.{level}")
                    store(f"st{name}.{level}")
                for size in ("64B", "128B", "256B"):
                    load(f"ld{name}.L2::{size}")
                load(f"ld{name}.L2::cache_hint", before=POLICY, after=", policy")
                store(f"st{name}.L2::cache_hint", before=POLICY, after=", policy")
                load(f"ld.mmio.relaxed.sys{name}")
                store(f"st.mmio.relaxed.sys{name}")
            if name in ("", ".global", ".shared"):
                for order, scope in options(("relaxed", "acquire"), ("cta", "cluster", "gpu", "sys")):
                    load(f"ld.{order}.{scope}{name}")
                for order, scope in options(("relaxed", "release"), ("cta", "cluster", "gpu", "sys")):
                    store(f"st.{order}.{scope}{name}")
            if name == ".global":
                for hint in ("L1::evict_last", "L2::128B"):
                    load(f"ld.relaxed.gpu.global.{hint}")
                load("ld.relaxed.gpu.global.L2::cache_hint", before=POLICY, after=", policy")
            if name == ".shared":
                load("ld.shared::cta")
                store("st.shared::cta")
    with Family("ld_const_modifiers", SOURCE, [("a", "b32", list(range(N)))],
                REGS + [f"module .const .align 32 .b32 table[{N}] = {{{', '.join(str(x) for x in data[0])}}};"], "sm_90") as family:
        for op in ("ld.weak.const", "ld.const.ca", "ld.const.cg", "ld.const.cs", "ld.const.lu", "ld.const.cv"):
            family.add(f"{op}.b32", note, f"mov.u64 p0, table;\nmul.wide.u32 o0, tid_, 4;\nadd.u64 p0, p0, o0;\n{op}.b32 d0, [p0];", one)
    with Family("ld_nc_modifiers", SOURCE, [("a", "b32", list(range(N)))], REGS + ["mem g b32: " + " ".join(map(str, slots(data)))], "sm_90") as family:
        for cop in ("ca", "cg", "cs"):
            family.add(f"ld.global.{cop}.nc.b32", note, SPACES[0].setup + f"ld.global.{cop}.nc.b32 d0, [p0];", one)
        for level in EVICTION + ("L2::64B", "L2::128B", "L2::256B"):
            family.add(f"ld.global.nc.{level}.b32", note, SPACES[0].setup + f"ld.global.nc.{level}.b32 d0, [p0];", one)
        family.add("ld.global.nc.L2::cache_hint.b32", note, POLICY + SPACES[0].setup + "ld.global.nc.L2::cache_hint.b32 d0, [p0], policy;", one)
        family.add("ld.global.b32_unified", "an address that is the same on every device", SPACES[0].setup + "ld.global.b32 d0, [p0].unified;", one)
    with Family("ld_st_param_modifiers", SOURCE, word_inputs(data), REGS + [IDENTITY, IDENTITY.replace("same", "typed").replace("ld.param", "ld.param::func").replace("st.param", "st.param::func")],
                "sm_90") as family:
        head = "{ .param .align 16 .b8 x[32]; .param .align 16 .b8 r[32];\n"
        family.add("param_func", "param::func inside a function", head + fill(".param", "x") + "call.uni (r), typed, (x);\nld.param.b32 d0, [r]; }", one)
        family.add("st.weak.param.b32", note, head + fill(".weak.param", "x") + "call.uni (r), same, (x);\nld.weak.param.b32 d0, [r]; }", one)
        family.add("ld.param_entry.u64", "a kernel's parameter: here the address of a buffer", "ld.param::entry.u64 p0, [k_g];\nmul.wide.u32 o0, tid_, 4;\nadd.u64 p0, p0, o0;\nld.global.b32 d0, [p0];",
                   one, extra=["mem g b32: " + " ".join(map(str, data[0]))])
        family.add("cvta.param.u64", "a kernel's parameter through a generic address",
                   "mov.u64 p0, k_g;\ncvta.param.u64 p1, p0;\nld.u64 p2, [p1];\nmul.wide.u32 o0, tid_, 4;\nadd.u64 p2, p2, o0;\nld.global.b32 d0, [p2];", one,
                   extra=["mem g b32: " + " ".join(map(str, data[0]))])
        family.add("cvta.to.param.u64", "and back", "mov.u64 p0, k_g;\ncvta.param.u64 p1, p0;\ncvta.to.param.u64 p3, p1;\nld.param.u64 p2, [p3];\nmul.wide.u32 o0, tid_, 4;\nadd.u64 p2, p2, o0;\nld.global.b32 d0, [p2];",
                   one, extra=["mem g b32: " + " ".join(map(str, data[0]))])
        family.add("cvta.param_entry.u64", "spelled with the kind of parameter", "mov.u64 p0, k_g;\ncvta.param::entry.u64 p1, p0;\ncvta.to.param::entry.u64 p3, p1;\nld.param::entry.u64 p2, [p3];\n"
                   "mul.wide.u32 o0, tid_, 4;\nadd.u64 p2, p2, o0;\nld.global.b32 d0, [p2];", one, extra=["mem g b32: " + " ".join(map(str, data[0]))])


def hints():
    data = words(405)
    note = "a hint changes no value"
    read = "ld.global.b32 d, [p0];"
    with Family("hint_forms", "the ISA's text: hints change no value", [("a", "b32", list(range(N)))],
                REGS + ["mem g b32: " + " ".join(map(str, slots(data)))], "sm_90") as family:
        out = [("d", "b32", data[0])]
        for space, level in options(("", ".global"), ("L1", "L2")):
            family.add(f"prefetch{space}.{level}", note, SPACES[0].setup + f"prefetch{space}.{level} [p0];\n" + read, out)
        for level in ("L2::evict_last", "L2::evict_normal"):
            family.add(f"prefetch.global.{level}", note, SPACES[0].setup + f"prefetch.global.{level} [p0];\n" + read, out)
        family.add("prefetchu.L1", note, SPACES[0].setup + "prefetchu.L1 [p0];\n" + read, out)
        for level in ("L1", "L2"):
            family.add(f"prefetch.local.{level}", note, f"mov.u64 p1, l;\nst.local.b32 [p1], a;\nprefetch.local.{level} [p1];\nld.local.b32 d, [p1];",
                       [("d", "b32", list(range(N)))], extra=["reg .b32 unused_; .local .align 4 .b8 l[4];"])
        for space in ("", ".global"):
            family.add(f"applypriority{space}.L2::evict_normal", note, f"applypriority{space}.L2::evict_normal [g], 128;\n" + SPACES[0].setup + read, out)
            family.add(f"discard{space}.L2", "what was there may be lost; a store after it counts",
                       f"setp.ne.u32 other, tid_, 0;\n@other bra E;\ndiscard{space}.L2 [h], 128;\nst.global.b32 [h], 7;\nE: mov.u32 d, a;", [("d", "b32", list(range(N)))],
                       extra=["mem h b32: " + " ".join(["5"] * 32) + " -> 7 " + " ".join(["_"] * 31), "reg .pred other;"])
        use = "\n" + SPACES[0].setup + "ld.global.L2::cache_hint.b32 d, [p0], policy;"
        for first, second in options(("L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"), ("", ".L2::evict_first", ".L2::evict_unchanged")):
            family.add(f"createpolicy.fractional.{first}{second}.b64", note, f"createpolicy.fractional.{first}{second}.b64 policy, 0.5;" + use, out)
            for space in ("", ".global"):
                family.add(f"createpolicy.range{space}.{first}{second}.b64", note, f"createpolicy.range{space}.{first}{second}.b64 policy, [g], 64, 128;" + use, out)
        family.add("createpolicy.cvt.L2.b64", note, "mov.u64 p1, 0;\ncreatepolicy.cvt.L2.b64 policy, p1;" + use, out)


def addresses():
    with Family("address_forms", "the ISA's text", [("a", "b32", [5, 6, 7, 8])],
                REGS + ["module .shared .align 16 .b8 s[64];", "module .const .align 4 .b32 table[4] = {11, 12, 13, 14};", "module .global .align 4 .b32 v[4] = {21, 22, 23, 24};",
                        "reg .b32 unused_; .local .align 16 .b8 l[16];", "mem g b32: 31 32 33 34"], "sm_90") as family:
        offset = "mul.wide.u32 o0, tid_, 4;\n"
        for space, symbol, value in (("const", "table", [11, 12, 13, 14]), ("global", "v", [21, 22, 23, 24])):
            family.add(f"cvta.{space}.u64", "a generic load reads it", f"mov.u64 p0, {symbol};\ncvta.{space}.u64 p1, p0;\n{offset}add.u64 p1, p1, o0;\nld.b32 d, [p1];", [("d", "b32", value)])
            family.add(f"cvta.to.{space}.u64", "and back", f"mov.u64 p0, {symbol};\ncvta.{space}.u64 p1, p0;\n{offset}add.u64 p1, p1, o0;\ncvta.to.{space}.u64 p2, p1;\nld.{space}.b32 d, [p2];",
                       [("d", "b32", value)])
        for space in ("shared", "shared::cta"):
            family.add(f"cvta.{space}.u64", "a generic store writes it, and back",
                       f"mov.u64 p0, s;\n{offset}cvta.{space}.u64 p1, p0;\nadd.u64 p1, p1, o0;\nst.b32 [p1], a;\ncvta.to.{space}.u64 p2, p1;\nld.{space}.b32 d, [p2];", [("d", "b32", [5, 6, 7, 8])])
        family.add("cvta.local.u64", "a generic store writes it, and back", "mov.u64 p0, l;\ncvta.local.u64 p1, p0;\nst.b32 [p1+4], a;\ncvta.to.local.u64 p2, p1;\nld.local.b32 d, [p2+4];",
                   [("d", "b32", [5, 6, 7, 8])])
        windows = {"const": "mov.u64 p0, table;\ncvta.const.u64 p0, p0;\n", "global": "mov.u64 p0, g;\n", "local": "mov.u64 p0, l;\ncvta.local.u64 p0, p0;\n",
                   "shared": "mov.u64 p0, s;\ncvta.shared.u64 p0, p0;\n", "param": "mov.u64 p0, k_g;\ncvta.param.u64 p0, p0;\n"}
        for space in ("const", "global", "local", "shared", "shared::cta", "shared::cluster", "param", "param::entry"):
            base = space.split("::")[0]
            # The window of kernel parameters lies within that of global memory.
            tests = "".join(f"{windows[w]}isspacep.{space} is_{w}, p0;\n" for w in windows)
            family.add(f"isspacep.{space}", "of an address of each space", tests, [(f"is_{w}", "pred", [int(w == base or (base, w) == ("global", "param"))] * 4) for w in windows])
        for t in ("u64", "b64", "s64"):
            family.add(f"mov.{t}_symbol", "address and displacement", f"mov.{t} p0, v+4;\nld.global.b32 d, [p0];", [("d", "b32", [22] * 4)]) if t == "u64" else None
        family.add("mov.u32_symbol", "a shared address fits 32 bits", "mov.u32 q0, s;\nmov.u32 q1, s+8;\nsub.u32 d, q1, q0;", [("d", "b32", [8] * 4)])


def moves():
    r = random.Random(406)
    for w in (16, 32, 64):
        v = [r.getrandbits(w) for _ in range(N)]
        with Family(f"mov_{w}", SOURCE, [("a", f"b{w}", v)]) as family:
            for t in (f"b{w}", f"u{w}", f"s{w}") + ((f"f{w}",) if w > 16 else ()):
                family.add(f"mov.{t}", "a copy", f"mov.{t} d, a;", [("d", f"b{w}", v)])
    quarter = [[r.getrandbits(16) for _ in range(N)] for _ in range(4)]
    half = [[r.getrandbits(32) for _ in range(N)] for _ in range(2)]
    long = [[r.getrandbits(64) for _ in range(N)] for _ in range(2)]
    byte = [[r.getrandbits(8) for _ in range(N)] for _ in range(4)]
    join = lambda columns, w: [sum(c[t] << i * w for i, c in enumerate(columns)) for t in range(N)]
    with Family("mov_vectors", "the ISA's text: the first element is the lowest", (), target="sm_80") as family:
        ins16 = [(f"a{i}", "b16", c) for i, c in enumerate(quarter)]
        outs16 = [(f"d{i}", "b16", c) for i, c in enumerate(quarter)]
        narrow = "".join(f"cvt.u8.u16 x{i}, a{i};\n" for i in range(4))
        widen = "".join(f"cvt.u16.u8 d{i}, x{i};\n" for i in range(4))
        ins8 = [(f"a{i}", "b16", c) for i, c in enumerate(byte)]
        outs8 = [(f"d{i}", "b16", c) for i, c in enumerate(byte)]
        family.add("mov.b32_pack2", "two halves", "mov.b32 d, {a0, a1};", [("d", "b32", join(quarter[:2], 16))], ins16[:2])
        family.add("mov.b64_pack4", "four quarters", "mov.b64 d, {a0, a1, a2, a3};", [("d", "b64", join(quarter, 16))], ins16)
        family.add("mov.b64_pack2", "two words", "mov.b64 d, {a0, a1};", [("d", "b64", join(half, 32))], [(f"a{i}", "b32", c) for i, c in enumerate(half)])
        family.add("mov.b32_unpack2", "two halves", "mov.b32 {d0, d1}, a;", outs16[:2], [("a", "b32", join(quarter[:2], 16))])
        family.add("mov.b64_unpack4", "four quarters", "mov.b64 {d0, d1, d2, d3}, a;", outs16, [("a", "b64", join(quarter, 16))])
        family.add("mov.b64_unpack2", "two words", "mov.b64 {d0, d1}, a;", [(f"d{i}", "b32", c) for i, c in enumerate(half)], [("a", "b64", join(half, 32))])
        family.add("mov.b64_unpack_sink", "an element that is not wanted", "mov.b64 {_, d1}, a;", [("d1", "b32", half[1])], [("a", "b64", join(half, 32))])
        family.add("mov.b128", "packed, copied, taken apart", "mov.b128 x, {a0, a1};\nmov.b128 y, x;\nmov.b128 {d0, d1}, y;", [(f"d{i}", "b64", c) for i, c in enumerate(long)],
                   [(f"a{i}", "b64", c) for i, c in enumerate(long)], ["reg .b128 x, y;"])
        bytes_reg = ["reg .b8 x<4>;"]
        family.add("mov.b16_pack2", "two bytes", narrow + "mov.b16 d, {x0, x1};", [("d", "b16", join(byte[:2], 8))], ins8, bytes_reg)
        family.add("mov.b32_pack4", "four bytes", narrow + "mov.b32 d, {x0, x1, x2, x3};", [("d", "b32", join(byte, 8))], ins8, bytes_reg)
        family.add("mov.b16_unpack2", "two bytes", "mov.b16 {x0, x1}, a;\n" + "\n".join(widen.splitlines()[:2]), outs8[:2], [("a", "b16", join(byte[:2], 8))], bytes_reg)
        family.add("mov.b32_unpack4", "four bytes", "mov.b32 {x0, x1, x2, x3}, a;\n" + widen, outs8, [("a", "b32", join(byte, 8))], bytes_reg)


# ---- atomics -------------------------------------------------------------------------------------------
def half_minmax(f, is_max):
    return lambda x, y: f_minmax(f, x, y, is_max)


def lanes(f, g, n):
    """An operation on packed 16-bit elements."""
    return lambda x, y: sum(g(x >> 16 * i & 0xFFFF, y >> 16 * i & 0xFFFF) << 16 * i for i in range(n))


def atomic_operations():
    """(operation with modifiers, type, width, olds, operands, news)"""
    r = random.Random(407)
    for t in ("u32", "s32", "u64", "s64"):
        w = int(t[1:])
        x, y = [r.getrandbits(w) for _ in range(N)], [r.getrandbits(w) for _ in range(N)]
        if t != "s64":
            yield "add", t, w, x, y, [unsigned(a + b, w) for a, b in zip(x, y)]
        for op, g in (("min", min), ("max", max)):
            yield op, t, w, x, y, [unsigned(g(typed(a, t), typed(b, t)), w) for a, b in zip(x, y)]
    for w in (32, 64):
        x, y = [r.getrandbits(w) for _ in range(N)], [r.getrandbits(w) for _ in range(N)]
        for op, g in (("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)):
            yield op, f"b{w}", w, x, y, [g(a, b) for a, b in zip(x, y)]
        yield "exch", f"b{w}", w, x, y, y
    x, y = [0, 5, 6, 0xFFFFFFFF], [5, 5, 5, 7]
    yield "inc", "u32", 32, x, y, [0 if a >= b else a + 1 for a, b in zip(x, y)]
    yield "dec", "u32", 32, x, y, [b if a == 0 or a > b else a - 1 for a, b in zip(x, y)]
    for f in (F32, F64):
        number = lambda v: f.round(Fraction(v), "rn")
        x, y = [number(v) for v in (1.5, -2.0, 1e10, -0.0)], [number(v) for v in (2.25, 2.0, 0.3, -0.0)]
        yield "add", f.name, f.width, x, y, [f_add(f, a, b) for a, b in zip(x, y)]
    for f in (F16, BF16):
        number = lambda v: f.round(Fraction(v), "rn")
        x = [number(1.5), number(-2.0), 3, f.largest]
        y = [number(2.25), number(0.1), 5, f.largest]  # subnormal: not flushed
        yield "add.noftz", f.name, 16, x, y, [f_add(f, a, b) for a, b in zip(x, y)]
        pair = lambda v: [a | b << 16 for a, b in zip(v, v[::-1])]
        yield "add.noftz", f.name + "x2", 32, pair(x), pair(y), [lanes(f, lambda p, q: f_add(f, p, q), 2)(a, b) for a, b in zip(pair(x), pair(y))]


def atomics():
    source = "Python's integers and exact fractions (exact.py), the ISA's text"
    extra = REGS + ["reg .b16 h<2>;"]
    places = {  # setup, address, before the operation (value a), after it (value e)
        "": ("mul.wide.u32 o0, tid_, 16;\nadd.u64 p0, g, o0;\n", "p0", ".global", ["mem g b32: " + " ".join(["0"] * 4 * N) + " -> " + " ".join(["_"] * 4 * N)]),
        ".global": ("mul.wide.u32 o0, tid_, 16;\nadd.u64 p0, g, o0;\n", "p0", ".global", ["mem g b32: " + " ".join(["0"] * 4 * N) + " -> " + " ".join(["_"] * 4 * N)]),
        ".shared": ("mov.u32 q0, s;\nmad.lo.u32 q0, tid_, 16, q0;\n", "q0", ".shared", ["module .shared .align 16 .b8 s[64];"]),
    }
    for space, (setup, address, where, declare) in places.items():
        with Family(f"atom{space.replace('.', '_') or '_generic'}_forms", source, (), extra + declare, "sm_90") as family:
            for op, t, w, old, operand, new in atomic_operations():
                ins = [("x", f"b{w}", old), ("a", f"b{w}", operand)]
                before = setup + f"st{where}.b{w} [{address}], x;\n"
                after = f"\nld{where}.b{w} e, [{address}];"
                family.add(f"atom{space}.{op}.{t}", "the old value, and the new one in its place", before + f"atom{space}.{op}.{t} d, [{address}], a;" + after,
                           [("d", f"b{w}", old), ("e", f"b{w}", new)], ins)
                if op != "exch":
                    family.add(f"red{space}.{op}.{t}", "the new value in its place", before + f"red{space}.{op}.{t} [{address}], a;" + after, [("e", f"b{w}", new)], ins)
            r = random.Random(408)
            for w in (16, 32, 64):
                old, new = [r.getrandbits(w) for _ in range(N)], [r.getrandbits(w) for _ in range(N)]
                want = [x if i % 2 else x ^ 1 << (w - 1) for i, x in enumerate(old)]
                family.add(f"atom{space}.cas.b{w}", "only where the old value is the one given",
                           setup + f"st{where}.b{w} [{address}], x;\natom{space}.cas.b{w} d, [{address}], b, a;\nld{where}.b{w} e, [{address}];",
                           [("d", f"b{w}", old), ("e", f"b{w}", [n if i % 2 else o for i, (o, n) in enumerate(zip(old, new))])],
                           [("x", f"b{w}", old), ("b", f"b{w}", want), ("a", f"b{w}", new)])
            x = [[r.getrandbits(64) for _ in range(N)] for _ in range(2)]
            y = [[r.getrandbits(64) for _ in range(N)] for _ in range(2)]
            # the 128 bits differ in the upper half only, for the even threads
            want = [x[0], [v if i % 2 else v ^ 1 for i, v in enumerate(x[1])]]
            ins = [(f"{n}{i}", "b64", v[i]) for n, v in (("x", x), ("y", y), ("w", want)) for i in range(2)]
            wide = ["reg .b128 new, old, want;"]
            before = setup + f"st{where}.v2.b64 [{address}], {{x0, x1}};\nmov.b128 new, {{y0, y1}};\nmov.b128 want, {{w0, w1}};\n"
            after = f"\nmov.b128 {{d0, d1}}, old;\nld{where}.v2.b64 {{e0, e1}}, [{address}];"
            family.add(f"atom{space}.exch.b128", "both halves", before + f"atom{space}.exch.b128 old, [{address}], new;" + after,
                       [(f"d{i}", "b64", x[i]) for i in range(2)] + [(f"e{i}", "b64", y[i]) for i in range(2)], ins, wide)
            family.add(f"atom{space}.cas.b128", "only where both halves are those given", before + f"atom{space}.cas.b128 old, [{address}], want, new;" + after,
                       [(f"d{i}", "b64", x[i]) for i in range(2)] +
                       [(f"e{i}", "b64", [n if k % 2 else o for k, (o, n) in enumerate(zip(x[i], y[i]))]) for i in range(2)], ins, wide)
            # ordering and scopes: alone, a thread sees no difference
            old, operand = [r.getrandbits(32) for _ in range(N)], [r.getrandbits(32) for _ in range(N)]
            new = [unsigned(a + b, 32) for a, b in zip(old, operand)]
            ins = [("x", "b32", old), ("a", "b32", operand)]
            before = setup + f"st{where}.b32 [{address}], x;\n"
            after = f"\nld{where}.b32 e, [{address}];"
            outs = [("d", "b32", old), ("e", "b32", new)]
            for order, scope in options(("relaxed", "acquire", "release", "acq_rel"), ("cta", "cluster", "gpu", "sys")):
                family.add(f"atom.{order}.{scope}{space}.add.u32", "one thread sees no difference", before + f"atom.{order}.{scope}{space}.add.u32 d, [{address}], a;" + after, outs, ins)
                if order in ("relaxed", "release"):
                    family.add(f"red.{order}.{scope}{space}.add.u32", "one thread sees no difference", before + f"red.{order}.{scope}{space}.add.u32 [{address}], a;" + after, outs[1:], ins)
            if space != ".shared":
                for scope in ("cta", "cluster", "gpu", "sys"):
                    family.add(f"atom.{scope}{space}.add.u32", "relaxed", before + f"atom.{scope}{space}.add.u32 d, [{address}], a;" + after, outs, ins)
                family.add(f"atom{space}.add.L2::cache_hint.u32", "a hint changes no value", POLICY + before + f"atom{space}.add.L2::cache_hint.u32 d, [{address}], a, policy;" + after, outs, ins)
                family.add(f"red{space}.add.L2::cache_hint.u32", "a hint changes no value", POLICY + before + f"red{space}.add.L2::cache_hint.u32 [{address}], a, policy;" + after, outs[1:], ins)
                family.add(f"atom{space}.add.u32_sink", "the old value is not wanted", before + f"atom{space}.add.u32 _, [{address}], a;" + after, outs[1:], ins)
                vectors(family, space, setup, address, where)
            else:
                family.add("atom.shared_cta.add.u32", "the block's own shared memory", before + f"atom.shared::cta.add.u32 d, [{address}], a;" + after, outs, ins)
                family.add("red.shared_cta.add.u32", "the block's own shared memory", before + f"red.shared::cta.add.u32 [{address}], a;" + after, outs[1:], ins)


def vectors(family, space, setup, address, where):
    r = random.Random(409)

    def one(op, t, n, w, f, g):
        number = lambda: sum(f.round(Fraction(r.randrange(-400, 400), 7), "rn") << 16 * k for k in range(w // f.width)) if f is not F32 else f.round(Fraction(r.randrange(-400, 400), 7), "rn")
        old, operand = [[number() for _ in range(N)] for _ in range(n)], [[number() for _ in range(N)] for _ in range(n)]
        new = [[g(a, b) for a, b in zip(old[i], operand[i])] for i in range(n)]
        ins = [(f"x{i}", f"b{w}", old[i]) for i in range(n)] + [(f"a{i}", f"b{w}", operand[i]) for i in range(n)]
        list_of = lambda c: "{" + ", ".join(f"{c}{i}" for i in range(n)) + "}"
        store = "".join(f"st{where}.b{w} [{address}+{i * w // 8}], x{i};\n" for i in range(n))
        load = "".join(f"\nld{where}.b{w} e{i}, [{address}+{i * w // 8}];" for i in range(n))
        outs = [(f"e{i}", f"b{w}", new[i]) for i in range(n)]
        name = f"{space}.{op}.v{n}.{t}"
        family.add("atom" + name, "element by element", setup + store + f"atom{name} {list_of('d')}, [{address}], {list_of('a')};" + load,
                   [(f"d{i}", f"b{w}", old[i]) for i in range(n)] + outs, ins)
        family.add("red" + name, "element by element", setup + store + f"red{name} [{address}], {list_of('a')};" + load, outs, ins)
    for n in (2, 4):
        one("add", "f32", n, 32, F32, lambda a, b: f_add(F32, a, b))
    for f in (F16, BF16):
        for op, g in (("add", lambda a, b: f_add(f, a, b)), ("min", half_minmax(f, False)), ("max", half_minmax(f, True))):
            for n in (2, 4, 8):
                one(f"{op}.noftz", f.name, n, 16, f, g)
            for n in (2, 4):
                one(f"{op}.noftz", f.name + "x2", n, 32, f, lanes(f, g, 2))


def async_copies():
    r = random.Random(410)
    data = [r.getrandbits(32) for _ in range(8 * 4)]
    column = lambda k: data[k::4]
    setup = "mov.u32 q0, s;\nmad.lo.u32 q0, tid_, 16, q0;\nmul.wide.u32 o0, tid_, 16;\nadd.u64 p0, g, o0;\n"
    read = ";\ncp.async.wait_all;\nld.shared.v4.b32 {d0, d1, d2, d3}, [q0];"
    declare = ["module .shared .align 16 .b8 s[128];", "mem g b32: " + " ".join(map(str, data))]
    with Family("cp_async_forms", "the ISA's text", [("a", "b32", list(range(8))), ("n", "b32", [0, 4, 8, 12, 16, 4, 0, 16]), ("c", "pred", [0, 1, 0, 1, 1, 0, 0, 1])], REGS + declare, "sm_80") as family:
        all_of = [(f"d{k}", "b32", column(k)) for k in range(4)]
        for op, space in options(("ca", "cg"), ("shared", "shared::cta")):
            family.add(f"cp.async.{op}.{space}.global", "16 bytes", setup + f"cp.async.{op}.{space}.global [q0], [p0], 16" + read, all_of)
        sizes = [0, 4, 8, 12, 16, 4, 0, 16]
        for op in ("ca", "cg"):
            family.add(f"cp.async.{op}_size", "what lies beyond the source's size is zero", setup + f"cp.async.{op}.shared.global [q0], [p0], 16, n" + read,
                       [(f"d{k}", "b32", [x if 4 * k < n else 0 for x, n in zip(column(k), sizes)]) for k in range(4)])
            family.add(f"cp.async.{op}_ignore", "zero where the source is to be ignored", setup + f"cp.async.{op}.shared.global [q0], [p0], 16, c" + read,
                       [(f"d{k}", "b32", [0 if z else x for x, z in zip(column(k), [0, 1, 0, 1, 1, 0, 0, 1])]) for k in range(4)])
            for space, size in options(("shared", "shared::cta"), ("", ".L2::64B", ".L2::128B", ".L2::256B")):
                if size:
                    family.add(f"cp.async.{op}.{space}{size}", "a hint changes no value", setup + f"cp.async.{op}.{space}.global{size} [q0], [p0], 16" + read, all_of)
                family.add(f"cp.async.{op}.{space}.L2::cache_hint{size}", "a hint changes no value", POLICY + setup + f"cp.async.{op}.{space}.global.L2::cache_hint{size} [q0], [p0], 16, policy" + read, all_of)


def reductions():
    """red with a scope and no order, and with its modifiers in the order that the grammar gives them."""
    a, b = 0x1234, 0x0FF1
    results = {"and": a & b, "or": a | b, "xor": a ^ b, "add": a + b, "inc": 0, "dec": b, "min": b, "max": a}
    with Family("red_scope_forms", "Python's integers", [("b", "b32", [b])]) as family:
        def add(name, op, body, t="u32"):
            t = "b32" if op in ("and", "or", "xor") else t
            family.add(name, "modifiers in any order", body.format(t=t), [], extra=[f"mem g b32: {a} -> {results[op]}"], target="sm_90" if "cluster" in name else None)
        for scope in ("cta", "cluster", "gpu", "sys"):
            add(f"red.{scope}", "add", f"red.{scope}.global.add.{{t}} [g], b;")
            add(f"red.add.{scope}", "add", f"red.add.global.{scope}.{{t}} [g], b;")
        for op, space in options(tuple(results), ("shared", "shared::cta", "shared::cluster")):
            t = "b32" if op in ("and", "or", "xor") else "u32"
            family.add(f"red.{op}.{space}", "modifiers in any order", f"st.shared.b32 [s], {a};\nred.{op}.{space}.{t} [s], b;\nld.shared.b32 d, [s];", [("d", "b32", [results[op]])],
                       extra=["module .shared .align 4 .b8 s[4];"], target="sm_90" if "cluster" in space else None)
        for op, sem in options(tuple(results), ("relaxed", "release")):
            add(f"red.{op}.{sem}", op, f"red.{op}.global.{sem}.gpu.{{t}} [g], b;")


def write_all():
    reductions()
    async_copies()
    loads()
    stores()
    modifiers()
    hints()
    addresses()
    moves()
    atomics()
