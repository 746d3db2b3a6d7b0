"""tcgen05: Tensor Memory and its products. 128 threads a case.

Layouts of ld, st and of results are CuTe's (copy_traits_sm100.hpp, mma_traits_sm100_frag.hpp), those of operands in shared memory
the canonical ones of its mma_sm100_desc.hpp, descriptors by the ISA's tables. Products: MMA-Sim's recipe on exact fractions."""
import random
from fractions import Fraction

from case_writer import Family
from exact import *

TARGET = "sm_100a"
THREADS = 128
MASK32 = (1 << 32) - 1
REGS = ["module .shared .align 1024 .b8 s[32768];", "module .shared .align 8 .b8 bar[16];", "module .shared .align 4 .b8 at[8];",
        "reg .b32 q<16>;", "reg .b64 p<8>;", "reg .pred w<5>;"]
LAYOUTS = "the ISA's text; CuTe's layouts (copy_traits_sm100.hpp) worked out on Python's integers"
K1, K2, K3 = 0x9E3779B1, 0x85EBCA6B, 0xC2B2AE35


def start(columns):
    """Warp 0 allocates; q1: the address; q2: with the lane of the warp's quarter."""
    return ("mov.u32 q0, at;\nsetp.lt.u32 w0, tid_, 32;\n"
            f"@w0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [q0], {columns};\n"
            "@w0 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
            "bar.sync 0;\nld.shared.b32 q1, [q0];\nand.b32 q2, tid_, 96;\nshl.b32 q2, q2, 16;\nadd.u32 q2, q2, q1;\n")


def end(columns):
    return ("tcgen05.fence::before_thread_sync;\nbar.sync 0;\n"
            f"@w0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 q1, {columns};")


# ---- ld and st -----------------------------------------------------------------------------------------
def value(lane, column):
    return (lane * K1 + column * K2 + K3) & MASK32


FILL = ("mov.u32 q3, 0;\nFILL: add.u32 q4, q2, q3;\nmad.lo.u32 q5, tid_, {k1}, {k3};\nmad.lo.u32 q5, q3, {k2}, q5;\n"
        "tcgen05.st.sync.aligned.32x32b.x1.b32 [q4], {{q5}};\nadd.u32 q3, q3, 1;\nsetp.lt.u32 w1, q3, {columns};\n@w1 bra FILL;\n"
        "tcgen05.wait::st.sync.aligned;\n")

# Bit (of a matrix of rows x 32-bit columns) of each thread's register, as shapes and strides: thread modes, register modes.
# `w`: bits of a row. Modes are (size, stride).
SHAPES = {
    "32x32b": (32, lambda n, w: ([(32, w)], [(n, 32)]), 1),
    "16x64b": (16, lambda n, w: ([(2, 8 * w), (2, 32), (8, w)], [(n, 64)]), 2),
    "16x128b": (16, lambda n, w: ([(4, 32), (8, w)], [(2, 8 * w), (n, 128)]), 4),
    "16x256b": (16, lambda n, w: ([(4, 64), (8, w)], [(2, 32), (2, 8 * w), (n, 256)]), 8),
    "16x32bx2": (16, lambda n, w: ([(16, w), (2, w // 2)], [(n, 32)]), 2),
}


def index(modes, i):
    total = 0
    for size, stride in modes:
        total += i % size * stride
        i //= size
    return total


def movement(shape, n):
    """[thread of the warp][register] -> (row, column), the columns that the shape takes."""
    rows, layout, per = SHAPES[shape]
    columns = n * per
    w = columns * 32
    threads, registers = layout(n, w)
    count = 1
    for size, _ in registers:
        count *= size
    return [[divmod((index(threads, t) + index(registers, r)) // 32, columns) for r in range(count)] for t in range(32)], columns


def shown(count):
    return sorted({0, 1, 2, count // 2, count - 2, count - 1} & set(range(count)))


def movements():
    base = [("z", "b32", [0] * THREADS)]
    for direction in ("ld", "st"):
        with Family(f"tcgen05_{direction}", LAYOUTS, base, REGS, TARGET) as family:
            for shape in SHAPES:
                for n in (1, 2, 4, 8, 16, 32, 64, 128):
                    table, columns = movement(shape, n)
                    count = len(table[0])
                    if count > 128:
                        continue
                    for packs in (False, True):
                        wide = columns * (2 if packs else 1)
                        if wide > 512:
                            continue
                        allocated = max(32, wide)
                        names = "{" + ", ".join(f"d{i}" for i in range(count)) + "}"
                        # Half of the warps take the upper 16 lanes where the shape has 16.
                        upper = "and.b32 q6, tid_, 32;\nshl.b32 q6, q6, 15;\nadd.u32 q6, q6, q2;\n" if SHAPES[shape][0] == 16 else "mov.u32 q6, q2;\n"
                        lane_of = lambda t, row: t // 32 * 32 + row + (16 if SHAPES[shape][0] == 16 and t // 32 % 2 else 0)
                        split = f", {wide // 2}" if shape == "16x32bx2" else ""
                        extra = [f"reg .b32 d<{count}>;"] if direction == "st" else [f"reg .b32 x<{count}>;"]
                        fill = FILL.format(k1=K1, k2=K2, k3=K3, columns=wide)
                        tag = f"{shape}.x{n}" + (".pack" if packs and direction == "ld" else ".unpack" if packs else "")
                        if direction == "ld":
                            def got(t, r):
                                row, column = table[t % 32][r]
                                lane = lane_of(t, row)
                                if packs:
                                    return (value(lane, 2 * column) & 0xFFFF) | (value(lane, 2 * column + 1) & 0xFFFF) << 16
                                return value(lane, column)
                            names = "{" + ", ".join(f"x{i}" for i in range(count)) + "}"
                            text = (start(allocated) + fill + upper + f"tcgen05.ld.sync.aligned.{shape}.x{n}{'.pack::16b' if packs else ''}.b32 {names}, [q6]{split};\n"
                                    "tcgen05.wait::ld.sync.aligned;\n" + "".join(f"mov.b32 d{i}, x{i};\n" for i in shown(count)) + end(allocated))
                            family.add(f"tcgen05.ld.{tag}", "the cells of each register", text, [(f"d{i}", "b32", [got(t, i) for t in range(THREADS)]) for i in shown(count)], extra=extra)
                            continue
                        # st: register r of thread t holds t K1 + r K2; then cells are read back.
                        cells = {}
                        for t in range(THREADS):
                            for r in range(count):
                                row, column = table[t % 32][r]
                                x = (t * K1 + r * K2) & MASK32
                                for part in range(2 if packs else 1):
                                    cells[lane_of(t, row), column * 2 + part if packs else column] = x >> 16 * part & 0xFFFF if packs else x
                        make = "".join(f"mad.lo.u32 d{i}, tid_, {K1}, {i * K2 & MASK32};\n" for i in range(count))
                        some = sorted({0, 1, wide // 2, wide - 1} & set(range(wide)))
                        text = (start(allocated) + fill + upper + make + f"tcgen05.st.sync.aligned.{shape}.x{n}{'.unpack::16b' if packs else ''}.b32 [q6]{split}, {names};\n"
                                "tcgen05.wait::st.sync.aligned;\n" + "".join(f"tcgen05.ld.sync.aligned.32x32b.x1.b32 {{e{c}}}, [q2+{c}];\n" for c in some) +
                                "tcgen05.wait::ld.sync.aligned;\n" + "".join(f"mov.b32 f{c}, e{c};\n" for c in some) + end(allocated))
                        family.add(f"tcgen05.st.{tag}", "the cells of each register", text, [(f"f{c}", "b32", [cells.get((t, c), value(t, c)) for t in range(THREADS)]) for c in some],
                                   extra=extra + [f"reg .b32 e{c};" for c in some])


def faults():
    base = [("z", "b32", [0] * THREADS)]
    store = "tcgen05.st.sync.aligned.32x32b.x1.b32 [q2], {tid_};\ntcgen05.wait::st.sync.aligned;\n"
    ld = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {q3}, [q2];\n"
    wait = "tcgen05.wait::ld.sync.aligned;\n"
    with Family("tcgen05_faults", "the ISA's text", base, REGS, TARGET) as family:
        def fault(name, text, rule, body):
            family.add(name, text, body, [], extra=[f"fault {rule}"])
        memory = "tensor-memory"
        fault("columns", "a number of columns that is no power of two", memory, start(48))
        fault("few columns", "fewer than 32 columns", memory, start(16))
        fault("after relinquish", "an allocation after the permit was given up", memory, start(32) + "@w0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [q0+4], 32;")
        fault("too many", "more columns than there are",  memory, start(512).replace("@w0 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;", "@w0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [q0+4], 32;"))
        fault("never given back", "a block that ends with an allocation", memory, start(32))
        fault("dealloc other", "what was not allocated so is given back", memory, start(32) + "@w0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 q1, 64;")
        fault("dealloc twice", "given back twice", memory, start(32) + "@w0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 q1, 32;\n@w0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 q1, 32;")
        fault("outside", "a column outside of the allocation", memory, start(32) + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {q3}, [q2+32];\n" + wait + end(32))
        fault("other quarter", "lanes that belong to another warp", memory, start(32) + "xor.b32 q2, q2, 2097152;\n" + ld + wait + end(32))
        fault("register before wait", "a register is used before the wait", "unwaited-tcgen05", start(32) + store + ld + "add.u32 q4, q3, 1;\n" + wait + end(32))
        fault("load before wait", "a store that was not waited for is read", "unwaited-tcgen05", start(32) + "tcgen05.st.sync.aligned.32x32b.x1.b32 [q2], {tid_};\n" + ld + wait + end(32))
        fault("store before wait", "what a load in flight reads is overwritten", "unwaited-tcgen05", start(32) + store + ld + "tcgen05.st.sync.aligned.32x32b.x1.b32 [q2], {tid_};\ntcgen05.wait::st.sync.aligned;\n" + wait + end(32))
        fault("never written", "what nothing has written decides a branch", "uninitialised-read", start(32) + ld + wait + "setp.eq.u32 w2, q3, 5;\n@w2 bra E;\nE:\n" + end(32))


# ---- products ------------------------------------------------------------------------------------------
class Small:
    """A format without infinities: mantissa bits, exponent bits, bias; nan: the code of the magnitude, if any."""

    def __init__(self, name, width, mantissa, bias, nan=None):
        self.name, self.width, self.mantissa, self.bias, self.nan = name, width, mantissa, bias, nan

    def parts(self, x):
        """(significand, exponent), value = significand * 2 ** exponent; a zero's exponent is -126."""
        negative = x >> (self.width - 1) & 1
        field = (x & ((1 << (self.width - 1)) - 1)) >> self.mantissa
        fraction = x & ((1 << self.mantissa) - 1)
        if field:
            fraction |= 1 << self.mantissa
        if not fraction:
            return Fraction(0), -126
        return Fraction(-fraction if negative else fraction, 1 << self.mantissa), max(field, 1) - self.bias


TYPES = {"f16": Small("f16", 16, 10, 15), "bf16": Small("bf16", 16, 7, 127), "tf32": Small("tf32", 32, 23, 127), "e4m3": Small("e4m3", 8, 3, 7), "e5m2": Small("e5m2", 8, 2, 15),
         "e2m3": Small("e2m3", 6, 3, 1), "e3m2": Small("e3m2", 6, 2, 3), "e2m1": Small("e2m1", 4, 1, 1), "f32": Small("f32", 32, 23, 127)}


def truncate(x):
    return -(-x.numerator // x.denominator) if x < 0 else x.numerator // x.denominator


def fused(terms, bits):
    """Terms (significand, exponent): aligned to the largest exponent, cut toward zero, added."""
    top = max(e for _, e in terms)
    return sum(truncate(s * Fraction(2) ** (bits + e - top)) for s, e in terms) * Fraction(2) ** (top - bits)


def rounded(x, d):
    return F16.round(x, "rn") if d == "f16" else F32.round(x, "rz")


def dot(a, b, ta, tb, c, d):
    terms = [TYPES[d].parts(c)] if c is not None else [(Fraction(0), -126)]
    for x, y in zip(a, b):
        (sx, ex), (sy, ey) = TYPES[ta].parts(x), TYPES[tb].parts(y)
        terms.append((sx * sy, ex + ey))
    return rounded(fused(terms, 25), d)


def scale_parts(kind, x):
    if kind == "ue8m0":
        return Fraction(1), x - 127
    return Small("ue4m3", 8, 3, 7).parts(x & 0x7F)


def scaled_dot(a, b, ta, tb, c, sa, sb, kind):
    terms = [TYPES["f32"].parts(c)] if c is not None else [(Fraction(0), -126)]
    if len(sa) == 1:
        (s0, e0), (s1, e1) = scale_parts(kind, sa[0]), scale_parts(kind, sb[0])
        for x, y in zip(a, b):
            (sx, ex), (sy, ey) = TYPES[ta].parts(x), TYPES[tb].parts(y)
            terms.append((sx * sy, ex + ey + e0 + e1))
        return rounded(fused(terms, 25), "f32")
    size = len(a) // len(sa)
    for k in range(0, len(a), 16):
        total = Fraction(0)
        for x, y in zip(a[k:k + 16], b[k:k + 16]):
            (sx, ex), (sy, ey) = TYPES[ta].parts(x), TYPES[tb].parts(y)
            total += sx * sy * Fraction(2) ** (ex + ey)
        (s0, e0), (s1, e1) = scale_parts(kind, sa[k // size]), scale_parts(kind, sb[k // size])
        terms.append((total * s0 * s1, e0 + e1))
    return rounded(fused(terms, 35), "f32")


def image(matrix, unit_bits, bits, width, across):
    """Bytes in shared memory of rows x k codes; leading and stride offsets. width: 16-byte units that the swizzle mixes."""
    rows, depth = len(matrix), len(matrix[0])
    per = 128 // unit_bits  # elements of 16 bytes
    size = 0
    place = {}
    for i in range(rows):
        for p in range(depth):
            if across:
                unit, e = divmod(i, per)
                atom, inner = divmod(unit, width)
                wide = (rows + per * width - 1) // (per * width)
                at = (atom + p // 8 * wide) * 128 * width + p % 8 * 16 * width + inner * 16
            else:
                unit, e = divmod(p, per)
                at = i % 8 * 16 * width + i // 8 * 128 * width + (unit * (rows // 8) * 128 if width == 1 else unit * 16)
            size = max(size, at + 16)
            place[i, p] = at, e
    out = bytearray(size + -size % 1024 if width > 1 else size)
    for (i, p), (at, e) in place.items():
        at ^= (at >> 7 & (width - 1)) << 4
        word = int.from_bytes(out[at:at + 16], "little") | matrix[i][p] << e * bits
        out[at:at + 16] = word.to_bytes(16, "little")
    if across:
        wide = (rows + per * width - 1) // (per * width)
        leading, stride = (wide * 128, 128) if width == 1 else (128 * width, wide * 128 * width)
    else:
        leading, stride = (rows // 8 * 128, 128) if width == 1 else (16, 128 * width)
    return bytes(out), leading, stride


def matrix_descriptor(leading, stride, width):
    return leading >> 4 << 16 | stride >> 4 << 32 | 1 << 46 | {1: 0, 8: 2, 4: 4, 2: 6}[width] << 61


CODES = {"f16": 0, "bf16": 1, "tf32": 2, "e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5, "u8": 0, "s8": 1}
LOAD = ("mov.u32 q0, s;\nmov.u32 q3, tid_;\nCOPY: mul.wide.u32 p0, q3, 4;\nadd.u64 p0, p0, g;\nld.global.b32 q4, [p0];\nmad.lo.u32 q5, q3, 4, q0;\nst.shared.b32 [q5], q4;\n"
        "add.u32 q3, q3, 128;\nsetp.lt.u32 w1, q3, {words};\n@w1 bra COPY;\nfence.proxy.async.shared::cta;\nmov.u32 q7, bar;\nsetp.eq.u32 w2, tid_, 0;\n"
        "@w2 mbarrier.init.shared::cta.b64 [q7], 1;\n")
DONE = ("@w2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [q7];\n"
        "WAIT: mbarrier.try_wait.parity.shared::cta.b64 w1, [q7], 0;\n@!w1 bra WAIT;\ntcgen05.fence::after_thread_sync;\n")


def codes(r, t, count):
    """Random codes of finite values of a moderate size."""
    if t in ("s8", "u8"):
        return [r.randrange(256) for _ in range(count)]
    f = TYPES[t]
    out = []
    for _ in range(count):
        if t in ("f16", "bf16", "tf32"):
            base = {"f16": F16, "bf16": BF16, "tf32": F32}[t].round(Fraction(r.randrange(-4096, 4096), r.choice((1, 3, 64, 1000))), "rn")
            out.append(0 if r.random() < 0.1 else base)
        else:
            x = r.randrange(1 << f.width)
            if (t == "e4m3" and x & 0x7F == 0x7F) or (t == "e5m2" and x & 0x7F >= 0x7C):
                x &= ~0x10
            out.append(x)
    return out


def number(t, x):
    if t == "s8":
        return x - 256 if x >= 128 else x
    return x


class Product:
    def __init__(self, seed, kind, ta, tb, d, m=128, n=8, width=(1, 1), across=(False, False), negate=(False, False), first=None, scale=None, vector=None, groups=0, stype="ue8m0", saturate=False,
                 a_in_memory=False, masked=None, scale_d=None, ids=(0, 0), collector=""):
        r = random.Random(seed)
        self.kind, self.n = kind, n
        narrow = kind in ("mxf4", "mxf4nvf4")
        unit = 16 if kind == "f16" else 32 if kind == "tf32" else 4 if narrow else 8
        bits = lambda t: TYPES[t].width if t in TYPES else 8
        k = 256 // unit
        a, b = [codes(r, ta, k) for _ in range(m)], [codes(r, tb, k) for _ in range(n)]
        if saturate:
            a = [[127] * k for _ in range(m)]
            b = [[127 if j % 2 else 128] * k for j in range(n)]
        c = [[(r.randrange(1 << 31) + (1 << 31) - 2 ** 20 if saturate else r.randrange(1 << 32)) if d == "s32" else codes(r, "f16" if d == "f16" else "tf32", 1)[0] for _ in range(n)] for _ in range(m)] if first else None
        if saturate and first:
            c = [[(1 << 31) - 1 - r.randrange(2 ** 20) if j % 2 else (1 << 31) + r.randrange(2 ** 20) for j in range(n)] for _ in range(m)]
        sign = lambda t, x: x ^ 1 << bits(t) - 1
        an, bn = ([[sign(ta, x) for x in row] for row in a] if negate[0] else a), ([[sign(tb, x) for x in row] for row in b] if negate[1] else b)
        cut = lambda t, row: [x & ~0x1FFF for x in row] if t == "tf32" else row
        an, bn = [cut(ta, row) for row in an], [cut(tb, row) for row in bn]
        sa = sb = None
        if groups:
            pick = lambda: r.randrange(120, 134) if stype == "ue8m0" else r.choice([x for x in range(256) if x & 0x7F != 0x7F])
            sa, sb = [[pick() for _ in range(groups)] for _ in range(m)], [[pick() for _ in range(groups)] for _ in range(n)]
        result = []
        for i in range(m):
            row = []
            for j in range(n):
                start_value = c[i][j] if c else None
                if d == "s32":
                    total = sum(number(ta, x) * number(tb, y) for x, y in zip(an[i], bn[j]))
                    total += (start_value - (1 << 32) if start_value and start_value >> 31 else start_value or 0)
                    if saturate:
                        total = max(-(1 << 31), min((1 << 31) - 1, total))
                    row.append(total & MASK32)
                elif groups:
                    row.append(scaled_dot(an[i], bn[j], ta, tb, start_value, sa[i], sb[j], stype))
                else:
                    if scale_d and c:
                        f = F16 if d == "f16" else F32
                        start_value = f.round(f.value(start_value) / (1 << scale_d), "rn")
                        assert f.value(start_value) * (1 << scale_d) == f.value(c[i][j]), "inexact"
                    row.append(dot(an[i], bn[j], ta, tb, start_value, d))
            if masked and masked[self.lane(i, m) // 32] >> self.lane(i, m) % 32 & 1:
                row = list(c[i])
            result.append(row)
        # Memory: A, B, (scales of A and of B, 32 rows of 16 bytes each). C goes through registers.
        ia, la, sta = image(a, unit, bits(ta), width[0], across[0])
        ib, lb, stb = image(b, unit, bits(tb), width[1], across[1])
        blob = bytearray(ia)
        if a_in_memory:
            blob, ia = bytearray(), b""
        blob += bytes(-len(blob) % 1024)
        at_b = len(blob)
        blob += ib
        blob += bytes(-len(blob) % 1024)
        at_s = len(blob)
        for rows, identity in ((sa, ids[0]), (sb, ids[1])):
            if rows:
                chunks = (len(rows) + 127) // 128
                for chunk in range(chunks):
                    for lane in range(32):
                        for column in range(4):
                            index_ = chunk * 128 + column * 32 + lane
                            cell = [0x55] * 4
                            if index_ < len(rows):
                                for g in range(groups):
                                    cell[identity + g] = rows[index_][g]
                            blob += bytes(cell)
        words = [int.from_bytes(blob[i:i + 4], "little") for i in range(0, len(blob), 4)]
        idesc = CODES[ta] << 7 | CODES[tb] << 10 | negate[0] << 13 | negate[1] << 14 | across[0] << 15 | across[1] << 16 | n >> 3 << 17 | m >> 4 << 24
        if narrow:
            idesc = idesc & ~(0x3F << 7) | 1 << 7 | 1 << 10
        if groups:
            idesc |= (stype == "ue8m0") << 23 | ids[0] << 29 | ids[1] << 4
        else:
            idesc |= {"f16": 0, "f32": 1, "s32": 2}[d] << 4 | saturate << 3
        columns = max(32, 1 << (n + 8 + (16 if groups else 0) + (8 if a_in_memory else 0) - 1).bit_length())
        text = start(columns) + LOAD.format(words=len(words))
        outs = [j for j in range(n)][:8] if n <= 8 else sorted({0, 1, n // 2 - 1, n // 2, n - 2, n - 1})
        ins = []
        lanes = {self.lane(i, m): i for i in range(m)}
        if c:
            # Column j of C is c0 of the thread's lane, turned by j columns: kept small by a few distinct columns.
            for j in range(n):
                ins.append((f"c{j}", "b32", [c[lanes[t]][j] if t in lanes else 0 for t in range(THREADS)]))
            text += "".join(f"tcgen05.st.sync.aligned.32x32b.x1.b32 [q2+{j}], {{c{j}}};\n" for j in range(n)) + "tcgen05.wait::st.sync.aligned;\n"
        a_column = n + (16 if groups else 0)
        if a_in_memory:
            per = 32 // unit
            for w in range(8):
                packed = [sum(a[i][w * per + e] << e * unit for e in range(per)) for i in range(m)]
                ins.append((f"a{w}", "b32", [packed[lanes[t]] if t in lanes else 0 for t in range(THREADS)]))
            text += "tcgen05.st.sync.aligned.32x32b.x8.b32 [q2+" + str(a_column) + "], {" + ", ".join(f"a{w}" for w in range(8)) + "};\ntcgen05.wait::st.sync.aligned;\n"
        text += "tcgen05.fence::before_thread_sync;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n"
        text += ("cvt.u64.u32 p1, q0;\nshr.u64 p1, p1, 4;\n"
                 f"mov.b64 p2, {matrix_descriptor(la, sta, width[0])};\nadd.u64 p2, p2, p1;\n"
                 f"mov.b64 p3, {matrix_descriptor(lb, stb, width[1]) + (at_b >> 4)};\nadd.u64 p3, p3, p1;\nmov.b32 q8, {idesc};\nsetp.ne.u32 w3, tid_, {4096 if first else 0};\n")
        scales = ""
        if groups:
            chunks = (n + 127) // 128
            text += f"mov.b64 p4, {matrix_descriptor(16, 128, 1) + (at_s >> 4)};\nadd.u64 p4, p4, p1;\nadd.u32 q9, q1, {n};\nadd.u32 q10, q1, {n + 4};\n"
            for i in range(1 + chunks):
                text += f"@w2 tcgen05.cp.cta_group::1.32x128b.warpx4 [q{9 if i == 0 else 10}], p4;\nadd.u64 p4, p4, 32;\n"
            scales = ", [q9], [q10]"
        if a_in_memory:
            text += f"add.u32 q11, q1, {a_column};\n"
        mask = ""
        if masked:
            text += "".join(f"mov.b32 q{12 + i}, {x};\n" for i, x in enumerate(masked))
            mask = ", {q12, q13, q14, q15}"
        modifiers = f".kind::{kind}" + (".block_scale" + (f".{vector}" if vector else "") if groups else "")
        modifiers += collector
        tail = f", {scale_d}" if scale_d else ""
        text += f"@w2 tcgen05.mma.cta_group::1{modifiers} [q1], {'[q11]' if a_in_memory else 'p2'}, p3, q8{scales}{mask}, w3{tail};\n" + DONE
        text += "".join(f"tcgen05.ld.sync.aligned.32x32b.x1.b32 {{x{j}}}, [q2+{j}];\n" for j in outs) + "tcgen05.wait::ld.sync.aligned;\n"
        # Lanes that hold no row are not read further: nothing has written them.
        text += "mov.b32 q6, 1;\n"
        if m == 64:
            text += "and.b32 q6, tid_, 16;\nsetp.eq.u32 w4, q6, 0;\n" + "".join(f"mov.b32 d{j}, 0;\n@w4 mov.b32 d{j}, x{j};\n" for j in outs)
        else:
            text += "".join(f"mov.b32 d{j}, x{j};\n" for j in outs)
        text += end(columns)
        self.text, self.ins = text, ins
        self.outs = [(f"d{j}", "b32", [result[lanes[t]][j] if t in lanes else 0 for t in range(THREADS)]) for j in outs]
        self.extra = [f"mem g b32: " + " ".join(map(str, words))] + [f"reg .b32 x{j};" for j in outs]

    @staticmethod
    def lane(row, m):
        return row if m == 128 else row % 16 + row // 16 * 32


def products():
    source = "MMA-Sim's recipe (arXiv 2511.10909) on exact fractions; layouts and descriptors of CuTe and the ISA (tcgen05_cases.py)"
    def add(family, name, text, **options):
        p = Product(abs(hash_of(name)), **options)
        family.add("tcgen05.mma." + name, text, p.text, p.outs, p.ins, p.extra)
    base = [("z", "b32", [0] * THREADS)]
    with Family("tcgen05_mma_f16", source, base, REGS, TARGET) as family:
        for ta, tb, d in (("f16", "f16", "f32"), ("f16", "f16", "f16"), ("bf16", "bf16", "f32"), ("f16", "bf16", "f32")):
            add(family, f"f16.{d}.{ta}.{tb}", "accumulates", kind="f16", ta=ta, tb=tb, d=d, first=True)
        add(family, "f16.first", "without an accumulator", kind="f16", ta="f16", tb="f16", d="f32")
        add(family, "f16.m64", "64 rows in the lower halves of the quarters", kind="f16", ta="f16", tb="f16", d="f32", m=64, n=16)
        add(family, "f16.negate", "A and B negated", kind="f16", ta="bf16", tb="f16", d="f32", negate=(True, False), first=True)
        add(family, "f16.negate_b", "B negated", kind="f16", ta="f16", tb="f16", d="f16", negate=(False, True), first=True)
        for width in (2, 4, 8):
            add(family, f"f16.swizzle{16 * width}", "operands along k with a swizzle", kind="f16", ta="f16", tb="f16", d="f32", n=24, width=(width, width))
            add(family, f"f16.across{16 * width}", "operands across k with a swizzle", kind="f16", ta="f16", tb="f16", d="f32", n=64, width=(width, width), across=(True, True))
        add(family, "f16.across16", "operands across k", kind="f16", ta="f16", tb="f16", d="f32", n=24, across=(True, True))
        add(family, "f16.across_a", "A across k, B along k", kind="f16", ta="bf16", tb="bf16", d="f32", n=16, width=(8, 4), across=(True, False))
        add(family, "f16.a_in_memory", "A in Tensor Memory", kind="f16", ta="f16", tb="f16", d="f32", a_in_memory=True, first=True)
        add(family, "f16.a_in_memory64", "A of 64 rows in Tensor Memory", kind="f16", ta="bf16", tb="bf16", d="f32", m=64, a_in_memory=True)
        add(family, "f16.masked", "lanes that stay", kind="f16", ta="f16", tb="f16", d="f32", first=True, masked=(0x0F0F00FF, 0, 0xFFFFFFFF, 0x80000001))
        add(family, "f16.scale_d", "the accumulator divided by a power of two", kind="f16", ta="f16", tb="f16", d="f32", first=True, scale_d=5)
        for op in ("fill", "discard"):
            add(family, f"f16.collector_{op}", "a hint", kind="f16", ta="f16", tb="f16", d="f32", m=64, collector=f".collector::a::{op}")
        add(family, "f16.n256", "the widest", kind="f16", ta="f16", tb="f16", d="f32", n=256, width=(4, 4))
    with Family("tcgen05_mma_tf32", source, base, REGS, TARGET) as family:
        add(family, "tf32", "accumulates", kind="tf32", ta="tf32", tb="tf32", d="f32", first=True)
        add(family, "tf32.swizzle128", "with a swizzle", kind="tf32", ta="tf32", tb="tf32", d="f32", n=16, width=(8, 8), negate=(True, False))
        add(family, "tf32.a_in_memory", "A in Tensor Memory", kind="tf32", ta="tf32", tb="tf32", d="f32", a_in_memory=True)
    with Family("tcgen05_mma_f8f6f4", source, base, REGS, TARGET) as family:
        five = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
        for i, ta in enumerate(five):
            for tb in five:
                add(family, f"f8f6f4.f32.{ta}.{tb}", "accumulates", kind="f8f6f4", ta=ta, tb=tb, d="f32", first=True, width=(8, 4) if i % 2 else (1, 2))
        add(family, "f8f6f4.f16.e4m3.e5m2", "an f16 result", kind="f8f6f4", ta="e4m3", tb="e5m2", d="f16", first=True)
        add(family, "f8f6f4.across", "across k", kind="f8f6f4", ta="e4m3", tb="e5m2", d="f32", n=32, width=(8, 2), across=(True, True))
        add(family, "f8f6f4.a_in_memory", "A in Tensor Memory", kind="f8f6f4", ta="e5m2", tb="e2m1", d="f32", a_in_memory=True, negate=(True, True))
    with Family("tcgen05_mma_i8", source, base, REGS, TARGET) as family:
        for ta in ("s8", "u8"):
            for tb in ("s8", "u8"):
                add(family, f"i8.{ta}.{tb}", "accumulates", kind="i8", ta=ta, tb=tb, d="s32", first=True, width=(2, 8))
        add(family, "i8.saturate", "the sum saturates", kind="i8", ta="s8", tb="s8", d="s32", first=True, saturate=True)
        add(family, "i8.across", "across k", kind="i8", ta="s8", tb="u8", d="s32", n=16, across=(True, True))
    with Family("tcgen05_mma_scaled", source, base, REGS, TARGET) as family:
        for i, (ta, tb) in enumerate((("e4m3", "e4m3"), ("e5m2", "e2m1"), ("e2m3", "e3m2"), ("e2m1", "e4m3"))):
            add(family, f"mxf8f6f4.{ta}.{tb}", "accumulates", kind="mxf8f6f4", ta=ta, tb=tb, d="f32", first=True, groups=1, width=(8, 8), ids=(i, 3 - i), vector="scale_vec::1X" if i == 3 else None)
        add(family, "mxf8f6f4.n64", "scales of more columns", kind="mxf8f6f4", ta="e4m3", tb="e5m2", d="f32", n=64, groups=1, vector="block32")
        add(family, "mxf4", "the size by default", kind="mxf4", ta="e2m1", tb="e2m1", d="f32", groups=2, n=16)
        for ids in ((0, 2), (2, 0)):
            add(family, f"mxf4.id{ids[0]}", "accumulates", kind="mxf4", ta="e2m1", tb="e2m1", d="f32", first=True, groups=2, vector=("scale_vec::2X", "block32")[ids[0] // 2], width=(8, 8), ids=ids)
        for vector, groups, stype in (("scale_vec::2X", 2, "ue8m0"), ("scale_vec::4X", 4, "ue8m0"), ("scale_vec::4X", 4, "ue4m3"), ("block16", 4, "ue4m3"), ("block32", 2, "ue8m0")):
            add(family, f"mxf4nvf4.{vector}.{stype}", "accumulates", kind="mxf4nvf4", ta="e2m1", tb="e2m1", d="f32", first=True, groups=groups, vector=vector, stype=stype, width=(4, 2), negate=(groups == 4, False))


def copies():
    source = "the ISA's text; CuTe's layouts (SM100_UTCCP_... of copy_traits_sm100.hpp) worked out on Python's integers"
    spread = {"128x256b": lambda lane: lane, "128x128b": lambda lane: lane, "64x128b.warpx2::02_13": lambda lane: lane % 64,
              "64x128b.warpx2::01_23": lambda lane: lane % 32 + lane // 64 * 32, "32x128b.warpx4": lambda lane: lane % 32}
    with Family("tcgen05_cp", source, [("z", "b32", [0] * THREADS)], REGS, TARGET) as family:
        for shape, row_of in spread.items():
            rows, columns = int(shape.split("x")[0]), 8 if "256b" in shape else 4
            r = random.Random(hash_of(shape))
            data = [[r.randrange(256) for _ in range(4 * columns)] for _ in range(rows)]
            for width in (1, 4):
                blob, leading, stride = image(data, 8, 8, width, False)
                words = [int.from_bytes(blob[i:i + 4], "little") for i in range(0, len(blob), 4)]
                text = (start(32) + LOAD.format(words=len(words)) + "bar.sync 0;\ncvt.u64.u32 p1, q0;\nshr.u64 p1, p1, 4;\n"
                        f"mov.b64 p2, {matrix_descriptor(leading, stride, width)};\nadd.u64 p2, p2, p1;\nadd.u32 q9, q1, 3;\n"
                        f"@w2 tcgen05.cp.cta_group::1.{shape} [q9], p2;\n" + DONE +
                        "".join(f"tcgen05.ld.sync.aligned.32x32b.x1.b32 {{x{c}}}, [q2+{3 + c}];\n" for c in range(columns)) + "tcgen05.wait::ld.sync.aligned;\n" +
                        "".join(f"mov.b32 d{c}, x{c};\n" for c in range(columns)) + end(32))
                family.add(f"tcgen05.cp.{shape}.{16 * width}", "rows of shared memory to lanes", text,
                           [(f"d{c}", "b32", [int.from_bytes(bytes(data[row_of(lane)][4 * c:4 * c + 4]), "little") for lane in range(THREADS)]) for c in range(columns)],
                           extra=["mem g b32: " + " ".join(map(str, words))] + [f"reg .b32 x{c};" for c in range(columns)])


def commits():
    base = [("z", "b32", [0] * THREADS)]
    prepare = "mov.u32 q7, bar;\nsetp.eq.u32 w2, tid_, 0;\n@w2 mbarrier.init.shared::cta.b64 [q7], 1;\n"
    test = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 w1, [q7], 0;\n@!w1 bra WAIT;\nmbarrier.test_wait.parity.shared::cta.b64 w3, [q7], 1;\nselp.b32 d, 1, 0, w3;\n"
    with Family("tcgen05_commit", "the ISA's text: one arrival at each mbarrier", base, REGS + ["reg .b16 mask;"], TARGET) as family:
        for space in ("", ".shared::cluster"):
            for multicast in ("", ".multicast::cluster"):
                address = "[q7]" if space else "[p1]"
                text = (prepare + "bar.sync 0;\nmov.b16 mask, 1;\ncvt.u64.u32 p1, q7;\ncvta.shared.u64 p1, p1;\n"
                        f"@w2 tcgen05.commit.cta_group::1.mbarrier::arrive::one{space}{multicast}.b64 {address}{', mask' if multicast else ''};\n" + test)
                family.add(f"tcgen05.commit{space}{multicast}", "nothing to wait for: the phase completes once", text, [("d", "b32", [0] * THREADS)])


def hash_of(name):
    h = 0
    for ch in name:
        h = (h * 131 + ord(ch)) % (1 << 31)
    return h


def write_all():
    movements()
    faults()
    copies()
    commits()
    products()
