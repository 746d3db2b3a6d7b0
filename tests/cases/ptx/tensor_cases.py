"""Matrix instructions. Where an element lies comes from CuTe's layouts (CUTLASS, include/cute/atom/
mma_traits_sm{70,75,80,89,90}.hpp), written as there: ((thread shape), (value shape)) with strides, giving row +
rows * column for A and C, and column + columns * row for B. Forms that CuTe has no atom for follow the PTX ISA's
figures. Metadata of sparse products lies as CuTe's ELayout_64x64, 64x32 and 64x16 say. Results come from
MMA-Sim's model (arXiv 2511.10909), worked out here in exact fractions; f64 and integers are exact."""
import itertools
import random
from fractions import Fraction

from case_writer import case
from exact import F64

LANES = 32


# ---- layouts -------------------------------------------------------------------------------------------
def cute(index, shape, stride):
    """The value of a CuTe layout at a (flat) index, first mode fastest."""
    if isinstance(shape, int):
        return index * stride
    total = 0
    for s, d in zip(shape, stride):
        size = product(s)
        total += cute(index % size, s, d)
        index //= size
    return total


def product(shape):
    return shape if isinstance(shape, int) else __import__("math").prod(product(s) for s in shape)


def positions(thread, value, outer):
    """[lane][value] -> (outer index, inner index) of thread and value (shape, stride) pairs."""
    return [[divmod(cute(t, *thread) + cute(v, *value), outer)[::-1] for v in range(product(value[0]))]
            for t in range(LANES)]


THREADS = (4, 8)
# By (rows, columns, elements per register): the thread strides, the value shape and strides.
A_LAYOUTS = {
    (16, 8, 2): ((32, 1), (2, 2), (16, 8)), (16, 16, 2): ((32, 1), (2, 2, 2), (16, 8, 128)),
    (16, 4, 1): ((16, 1), (2,), (8,)), (16, 8, 1): ((16, 1), (2, 2), (8, 64)), (16, 16, 1): ((16, 1), (2, 4), (8, 64)),
    (8, 4, 1): ((8, 1), (1,), (0,)), (8, 16, 4): ((32, 1), (4,), (8,)), (16, 16, 4): ((64, 1), (4, 2), (16, 8)),
    (16, 32, 4): ((64, 1), (4, 2, 2), (16, 8, 256)), (8, 32, 8): ((64, 1), (8,), (8,)),
    (16, 32, 8): ((128, 1), (8, 2), (16, 8)), (16, 64, 8): ((128, 1), (8, 2, 2), (16, 8, 512)),
    (8, 128, 32): ((256, 1), (32,), (8,)), (16, 128, 32): ((512, 1), (32, 2), (16, 8)),
    (16, 256, 32): ((512, 1), (32, 2, 2), (16, 8, 2048)),
}
B_LAYOUTS = {  # by (k, elements per register); eight columns
    (8, 2): ((16, 1), (2,), (8,)), (16, 2): ((16, 1), (2, 2), (8, 64)), (32, 2): ((16, 1), (2, 4), (8, 64)),
    (4, 1): ((8, 1), (1,), (0,)), (8, 1): ((8, 1), (2,), (32,)), (16, 1): ((8, 1), (4,), (32,)),
    (16, 4): ((32, 1), (4,), (8,)), (32, 4): ((32, 1), (4, 2), (8, 128)), (64, 4): ((32, 1), (4, 4), (8, 128)),
    (32, 8): ((64, 1), (8,), (8,)), (64, 8): ((64, 1), (8, 2), (8, 256)), (128, 8): ((64, 1), (8, 4), (8, 256)),
    (128, 32): ((256, 1), (32,), (8,)), (256, 32): ((256, 1), (32, 2), (8, 1024)),
}
C_LAYOUTS = {16: ((32, 1), (2, 2), (16, 8)), 8: ((16, 1), (2,), (8,))}


def layout_a(rows, cols, per):
    threads, shape, stride = A_LAYOUTS[rows, cols, per]
    return positions((THREADS, threads), (shape, stride), rows)


def layout_b(k, per):  # (row, column): CuTe gives n + 8 k
    threads, shape, stride = B_LAYOUTS[k, per]
    return [[(kk, n) for n, kk in lane] for lane in positions((THREADS, threads), (shape, stride), 8)]


def layout_c(rows):
    threads, shape, stride = C_LAYOUTS[rows]
    return positions((THREADS, threads), (shape, stride), rows)


# ---- numbers -------------------------------------------------------------------------------------------
class Float:
    """A floating format; values are bit patterns."""

    def __init__(self, width, mantissa, bias, has_infinity=True):
        self.width, self.mantissa, self.bias, self.has_infinity = width, mantissa, bias, has_infinity
        self.exponents = width - 1 - mantissa
        self.nan = (1 << (width - 1)) - 1

    def parts(self, bits):
        """Significand as a fraction below 2 in size, and exponent; a zero's exponent is -126."""
        field = bits >> self.mantissa & ((1 << self.exponents) - 1)
        fraction = bits & ((1 << self.mantissa) - 1)
        if field == 0 and fraction == 0:
            return Fraction(0), -126
        whole = fraction + ((1 << self.mantissa) if field else 0)
        sign = -1 if bits >> (self.width - 1) & 1 else 1
        return Fraction(sign * whole, 1 << self.mantissa), max(field, 1) - self.bias

    def special(self, bits):
        """None, or "nan", "inf", "-inf"."""
        field = bits >> self.mantissa & ((1 << self.exponents) - 1)
        fraction = bits & ((1 << self.mantissa) - 1)
        if field != (1 << self.exponents) - 1:
            return None
        if not self.has_infinity:
            return "nan" if fraction == (1 << self.mantissa) - 1 else None
        if fraction:
            return "nan"
        return "-inf" if bits >> (self.width - 1) & 1 else "inf"


FLOATS = {"f16": Float(16, 10, 15), "bf16": Float(16, 7, 127), "tf32": Float(19, 10, 127), "f32": Float(32, 23, 127),
          "e4m3": Float(8, 3, 7, False), "e5m2": Float(8, 2, 15)}
WIDTHS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4,
          "s32": 32, "b1": 1}


def truncate(x):  # toward zero
    return -(-x.numerator // x.denominator) if x < 0 else x.numerator // x.denominator


def exponent_of(x):  # of a nonzero fraction
    x = abs(x)
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if Fraction(2) ** e <= x else e - 1


def encode(fmt, x, nearest):
    """Bits of an exact value: to nearest even, or cut toward zero."""
    if x == 0:
        return 0
    sign = 1 << (fmt.width - 1) if x < 0 else 0
    e = max(exponent_of(x), 1 - fmt.bias)
    scaled = abs(x) / Fraction(2) ** (e - fmt.mantissa)
    whole = truncate(scaled)
    rest = scaled - whole
    if nearest and (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1)):
        whole += 1
    infinity = ((1 << fmt.exponents) - 1) << fmt.mantissa
    if whole < 1 << fmt.mantissa:
        return sign | whole
    return sign | min(((e - 1 + fmt.bias) << fmt.mantissa) + whole, infinity)


def dot_add(a, fa, b, fb, c, fd, bits, result_bits=23):
    """One step of MMA-Sim: products and c are cut at `bits` below the largest exponent; fd is f16 or f32."""
    specials = []
    for x, y in zip(a, b):
        sx, sy = FLOATS[fa].special(x), FLOATS[fb].special(y)
        if sx or sy:
            zero = (sx is None and FLOATS[fa].parts(x)[0] == 0) or (sy is None and FLOATS[fb].parts(y)[0] == 0)
            if "nan" in (sx, sy) or zero:
                return FLOATS[fd].nan
            negative = (x >> (FLOATS[fa].width - 1)) ^ (y >> (FLOATS[fb].width - 1))
            specials.append("-inf" if negative & 1 else "inf")
    if FLOATS[fd].special(c):
        specials.append(FLOATS[fd].special(c))
    infinity = ((1 << FLOATS[fd].exponents) - 1) << FLOATS[fd].mantissa
    if specials:
        if "nan" in specials or len(set(specials)) > 1:
            return FLOATS[fd].nan
        return infinity | (1 << (FLOATS[fd].width - 1) if specials[0] == "-inf" else 0)
    terms = [FLOATS[fd].parts(c)]
    for x, y in zip(a, b):
        (sx, ex), (sy, ey) = FLOATS[fa].parts(x), FLOATS[fb].parts(y)
        terms.append((sx * sy, ex + ey))
    top = max(e for _, e in terms)
    total = sum(truncate(s * Fraction(2) ** (bits + e - top)) for s, e in terms)
    value = total * Fraction(2) ** (top - bits)
    if fd == "f16":
        return encode(FLOATS["f16"], value, True)
    if result_bits == 23:
        return encode(FLOATS["f32"], value, False)
    short = Float(1 + 8 + result_bits, result_bits, 127)
    return encode(short, value, False) << (23 - result_bits)


def convert(bits, to):  # f16 <-> f32, finite
    s, e = FLOATS["f16" if to == "f32" else "f32"].parts(bits)
    return encode(FLOATS[to], s * Fraction(2) ** e, True)


def recipe(arch, kind, k, sparse):
    """Fraction bits, terms of one step, mantissa bits of an f32 result."""
    eight = kind in ("e4m3", "e5m2")
    bits = 23 if arch < 75 else 24 if arch < 90 else 25
    result = 23
    if arch == 89 and eight:
        bits = result = 13
    longest = (32 if eight else 8 if kind == "tf32" else 16) * (2 if sparse else 1)
    step = k // 2 if 80 <= arch < 90 and k == longest else k
    return bits, step, result


def float_value(kind, rng):
    """A number in the middle of its range, now and then zero or subnormal."""
    f = FLOATS[kind]
    r = rng.random()
    if r < 0.06:
        return rng.choice([0, 1 << (f.width - 1)])
    if r < 0.1:
        return rng.randrange(1 << f.mantissa) | rng.randrange(2) << (f.width - 1)
    spread = {"f16": 6, "bf16": 9, "tf32": 9, "f32": 8, "e4m3": 4, "e5m2": 6}[kind]
    middle = f.bias - (2 if kind in ("f16", "e5m2") else 0)
    field = max(1, middle + rng.randrange(-spread, spread + 1))
    field = min(field, (1 << f.exponents) - 2)
    return (rng.randrange(2) << (f.width - 1)) | field << f.mantissa | rng.randrange(1 << f.mantissa)


def f64_bits(x):
    import struct
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def f64_value(x):
    import struct
    return struct.unpack("<d", struct.pack("<Q", x))[0]


def element(kind, rng):
    if kind == "f64":
        return f64_bits(rng.uniform(-8, 8))
    if kind in FLOATS:
        return float_value(kind, rng)
    return rng.getrandbits(WIDTHS[kind])


def signed(kind, bits):
    w = WIDTHS[kind]
    return bits - (1 << w) if kind[0] == "s" and bits >> (w - 1) else bits


# ---- products ------------------------------------------------------------------------------------------
def multiply(a, b, c, m, n, k, ta, tb, tc, td, arch, sparse=False, op=None, saturate=False, rounding="rn"):
    d = [[0] * n for _ in range(m)]
    for i in range(m):
        for j in range(n):
            row, column = a[i], [b[p][j] for p in range(k)]
            if ta == "f64":
                total = c[i][j]
                for x, y in zip(row, column):
                    exact = Fraction(f64_value(x)) * Fraction(f64_value(y)) + Fraction(f64_value(total))
                    total = F64.round(exact, rounding)
                d[i][j] = total
            elif ta == "b1":
                f = (lambda x, y: x ^ y) if op == "xor" else (lambda x, y: x & y)
                d[i][j] = (c[i][j] + sum(f(x, y) for x, y in zip(row, column))) & 0xFFFFFFFF
            elif ta in FLOATS:
                bits, step, result = recipe(arch, ta, k, sparse)
                cut = (lambda x: x >> 13) if ta == "tf32" else (lambda x: x)
                total = c[i][j] if tc == td else convert(c[i][j], td)
                for p in range(0, k, step):
                    total = dot_add([cut(x) for x in row[p:p + step]], ta, [cut(x) for x in column[p:p + step]], tb, total,
                                    td, bits, result)
                d[i][j] = total
            else:
                total = signed("s32", c[i][j]) + sum(signed(ta, x) * signed(tb, y) for x, y in zip(row, column))
                if saturate:
                    total = max(-2**31, min(2**31 - 1, total))
                d[i][j] = total & 0xFFFFFFFF
    return d


def registers(name, matrix, places, kind):
    """Case registers holding a fragment: (name, type, 32 values)."""
    width = WIDTHS[kind]
    per = max(1, 32 // width)
    out = []
    for r in range(len(places[0]) // per):
        values = [sum(matrix[row][col] << (e * width) for e, (row, col) in enumerate(places[lane][r * per:(r + 1) * per]))
                  for lane in range(LANES)]
        out.append((f"{name}{r}", "f32" if kind == "f32" else "f64" if kind == "f64" else "b32", values))
    return out


def braces(group):
    return "{" + ", ".join(r[0] for r in group) + "}"


def draw(rows, cols, kind, rng):
    matrix = [[element(kind, rng) for _ in range(cols)] for _ in range(rows)]
    if kind == "tf32":  # low bits that the product does not read
        matrix = [[x << 13 | rng.getrandbits(13) for x in row] for row in matrix]
    return matrix


def dense(shape, types, arch, op=None, saturate=False, tag="", specials=False, rounding=""):
    m, n, k = shape
    td, ta, tb, tc = types
    rng = random.Random(f"{shape}{types}{arch}{op}{saturate}{tag}")
    a, b, c = draw(m, k, ta, rng), draw(k, n, tb, rng), draw(m, n, tc, rng)
    if specials:  # rows and columns with infinities and NaNs
        f, fb = FLOATS[ta], FLOATS[tb]
        inf = ((1 << f.exponents) - 1) << f.mantissa
        up = 13 if ta == "tf32" else 0
        a[1][2], a[2][0], b[3][5], c[4][1] = f.nan << up, inf << up, fb.nan << up, FLOATS[tc].nan
        a[5][1], a[5][2] = inf << up, (inf | 1 << (f.width - 1)) << up
        c[6][2] = ((1 << FLOATS[tc].exponents) - 1) << FLOATS[tc].mantissa
    d = multiply(a, b, c, m, n, k, ta, tb, tc, td, arch, op=op, saturate=saturate, rounding=rounding[1:] or "rn")
    per = max(1, 32 // WIDTHS[ta])
    ra = registers("a", a, layout_a(m, k, per), ta)
    rb = registers("b", b, layout_b(k, per), tb)
    rc = registers("c", c, layout_c(m), tc)
    rd = registers("d", d, layout_c(m), td)
    sat = ".satfinite" if saturate else ""
    tail = f".{op}.popc" if op else ""
    body = (f"mma.sync.aligned.m{m}n{n}k{k}.row.col{rounding}{sat}.{td}.{ta}.{tb}.{tc}{tail} {braces(rd)}, {braces(ra)}, "
            f"{braces(rb)}, {braces(rc)};")
    name = f"mma_m{m}n{n}k{k}_{td}_{ta}_{tb}{'_' + op if op else ''}{'_sat' if saturate else ''}{rounding.replace('.', '_')}{tag}_sm{arch}"
    case(name, "fragments as CuTe's atoms, arithmetic as MMA-Sim" if ta in FLOATS else "fragments as CuTe's atoms",
         body, ra + rb + rc, rd, f"sm_{arch}")


def quad_pairs(a_layout, b_layout, tc, td, arch=75):
    """m8n8k4 with f16: four products, one for each quad pair; CuTe's SM70 atoms."""
    rng = random.Random(f"quad{a_layout}{b_layout}{tc}{td}")
    quad = ((4, 2), (1, 16))
    row, col = ((8,), (1,), (4,), (8,)), ((4, 2), (8, 4), (4,), (1,))
    half, single = ((8,), (1,), (8,), (8,)), ((2, 2, 2), (1, 16, 4), (2, 2, 2), (8, 2, 32))

    def places(layout):  # [thread of eight][value] -> (outer, inner)
        ts, td_, vs, vd = layout
        return [[((cute(t, ts, td_) + cute(v, vs, vd)) % 8, (cute(t, ts, td_) + cute(v, vs, vd)) // 8)
                 for v in range(product(vs))] for t in range(8)]

    pa = places(row if a_layout == "row" else col)
    pb = places(row if b_layout == "col" else col)
    pc = places(half if tc == "f16" else single)
    pd = places(half if td == "f16" else single)

    def fragment(name, kind, matrices, where, transposed=False):
        per = 32 // WIDTHS[kind]
        regs = [[0] * LANES for _ in range(len(where[0]) // per)]
        for q in range(4):
            for t in range(8):
                lane = cute(t, *quad) + 4 * q
                for v, (outer, inner) in enumerate(where[t]):
                    x = matrices[q][inner][outer] if transposed else matrices[q][outer][inner]
                    regs[v // per][lane] |= x << (v % per * WIDTHS[kind])
        return [(f"{name}{i}", "f32" if kind == "f32" else "b32", r) for i, r in enumerate(regs)]

    a = [draw(8, 4, "f16", rng) for _ in range(4)]
    b = [draw(4, 8, "f16", rng) for _ in range(4)]
    c = [draw(8, 8, tc, rng) for _ in range(4)]
    d = [multiply(a[q], b[q], c[q], 8, 8, 4, "f16", "f16", tc, td, arch) for q in range(4)]
    ra, rb = fragment("a", "f16", a, pa), fragment("b", "f16", b, pb, transposed=True)
    rc, rd = fragment("c", tc, c, pc), fragment("d", td, d, pd)
    case(f"mma_m8n8k4_{a_layout}_{b_layout}_{td}_{tc}", "a product for each quad pair; CuTe's SM70 atoms",
         f"mma.sync.aligned.m8n8k4.{a_layout}.{b_layout}.{td}.f16.f16.{tc} {braces(rd)}, {braces(ra)}, {braces(rb)}, "
         f"{braces(rc)};", ra + rb + rc, rd, f"sm_{arch}")


def sparse(shape, types, arch, selector=0, variant="sp", tag="", wrong=None, saturate=False):
    m, n, k = shape
    td, ta, tb, tc = types
    rng = random.Random(f"sparse{shape}{types}{selector}{variant}{tag}")
    kept, b, c = draw(m, k // 2, ta, rng), draw(k, n, tb, rng), draw(m, n, tc, rng)
    unit = {"tf32": 2, "s4": 8, "u4": 8}.get(ta, 4)  # elements that four bits of metadata stand for
    a = [[0] * k for _ in range(m)]
    bits = [[0] * (k // unit) for _ in range(m)]
    for i in range(m):
        for g in range(k // unit):
            if ta == "tf32":
                at = rng.randrange(2)
                bits[i][g] = 0b1110 if at else 0b0100
                a[i][g * 2 + at] = kept[i][g]
                continue
            first, second = sorted(rng.sample(range(4), 2))
            if variant == "sp" and rng.random() < 0.3:
                first, second = second, first  # any order
            bits[i][g] = first | second << 2
            if unit == 4:
                a[i][g * 4 + first], a[i][g * 4 + second] = kept[i][g * 2], kept[i][g * 2 + 1]
            else:
                for e in range(2):
                    a[i][g * 8 + 2 * first + e] = kept[i][g * 4 + e]
                    a[i][g * 8 + 2 * second + e] = kept[i][g * 4 + 2 + e]
    if wrong is not None:
        bits[3][1] = wrong
    if saturate:  # sums that leave 32 bits in both directions
        c = [[(0x7FFFFFF0, 0x80000010, 5)[(i + j) % 3] for j in range(n)] for i in range(m)]
    d = multiply(a, b, c, m, n, k, ta, tb, tc, td, arch, sparse=True, saturate=saturate)
    # CuTe's ELayouts, one warp of four: by q = lane % 4. `per_row` metadata bits of a row.
    per_row = k // unit * 4
    e = [rng.getrandbits(32) for _ in range(LANES)]  # lanes that are not selected hold anything
    for lane in range(LANES):
        g, q = lane // 4, lane % 4
        words = [sum(bits[row][x] << (4 * x) for x in range(k // unit)) for row in (g, g + 8)]
        if per_row == 16:
            if q == selector:
                e[lane] = words[0] | words[1] << 16
        elif WIDTHS[ta] >= 16:
            if q // 2 == selector:
                part = 16 * (q % 2)
                e[lane] = (words[0] >> part & 0xFFFF) | (words[1] >> part & 0xFFFF) << 16
        elif per_row == 32:
            if q // 2 == selector:
                e[lane] = words[q % 2]
        else:
            e[lane] = words[q % 2] >> (32 * (q // 2)) & 0xFFFFFFFF
    per = 32 // WIDTHS[ta]
    ra = registers("a", kept, layout_a(m, k // 2, per), ta)
    rb = registers("b", b, layout_b(k, per), tb)
    rc, rd = registers("c", c, layout_c(m), tc), registers("d", d, layout_c(m), td)
    body = (f"mma.{variant}.sync.aligned.m{m}n{n}k{k}.row.col{'.satfinite' if saturate else ''}.{td}.{ta}.{tb}.{tc} {braces(rd)}, {braces(ra)}, {braces(rb)}, "
            f"{braces(rc)}, e, {selector};")
    extra = ["fault illegal-instruction", "reg .f32 d<4>;"] if wrong is not None else []
    case(f"mma_{variant.replace('::', '_')}_m{m}n{n}k{k}_{td}_{ta}_{tb}_sel{selector}{'_sat' if saturate else ''}{tag}",
         "two of four elements kept; metadata as CuTe's ELayouts" if not extra else "positions out of order are undefined",
         body, ra + rb + rc + [("e", "b32", e)], [] if extra else rd, f"sm_{arch}", extra)


def warpgroup(types, k, in_registers=False, sparse_selector=None, saturate=False, tag="", specials=False):
    """wgmma m64n8: 128 threads; A and B in shared memory without swizzle, along k (CuTe's Layout_K_INTER_Atom, atoms
    of 8 rows by 16 bytes, M or N first), or A in registers (ALayout_64x8, 64x16, 64x32), accumulators as CLayout_64x8."""
    td, ta, tb = types
    n = 8
    is_sparse = sparse_selector is not None
    full = 2 * k if is_sparse else k
    rng = random.Random(f"wgmma{types}{k}{in_registers}{sparse_selector}{saturate}{tag}")
    kept, b, c = draw(64, k, ta, rng), draw(full, n, tb, rng), draw(64, n, td, rng)
    if specials:
        f = FLOATS[ta]
        kept[1][2], b[3][5], c[4][1] = f.nan, FLOATS[tb].nan, FLOATS[td].nan
        if f.has_infinity:
            inf = ((1 << f.exponents) - 1) << f.mantissa
            kept[2][0], kept[5][1], kept[5][2] = inf, inf, inf | 1 << (f.width - 1)
        c[6][2] = ((1 << FLOATS[td].exponents) - 1) << FLOATS[td].mantissa
    a = kept
    inputs = []
    if is_sparse:
        unit = 2 if ta == "tf32" else 4
        a = [[0] * full for _ in range(64)]
        bits = [[0] * (full // unit) for _ in range(64)]
        for i in range(64):
            for g in range(full // unit):
                if ta == "tf32":
                    at = rng.randrange(2)
                    bits[i][g] = 0b1110 if at else 0b0100
                    a[i][2 * g + at] = kept[i][g]
                else:
                    first, second = sorted(rng.sample(range(4), 2))
                    bits[i][g] = first | second << 2
                    a[i][4 * g + first], a[i][4 * g + second] = kept[i][2 * g], kept[i][2 * g + 1]
        e = [rng.getrandbits(32) for _ in range(128)]
        for t in range(128):
            g, q, warp = t % 32 // 4, t % 4, t // 32
            words = [sum(x << (4 * y) for y, x in enumerate(bits[16 * warp + row])) for row in (g, g + 8)]
            if WIDTHS[ta] >= 16:
                if q // 2 == sparse_selector:
                    part = 16 * (q % 2)
                    e[t] = (words[0] >> part & 0xFFFF) | (words[1] >> part & 0xFFFF) << 16
            else:
                e[t] = words[q % 2] >> (32 * (q // 2)) & 0xFFFFFFFF
        inputs.append(("e", "b32", e))
    # Hopper: one step for all of K, 25 fraction bits; 8-bit floats 13, and 13 bits of an f32 result.
    d = [[0] * n for _ in range(64)]
    eight = ta in ("e4m3", "e5m2")
    for i in range(64):
        for j in range(n):
            column = [b[p][j] for p in range(full)]
            if ta in FLOATS:
                cut = (lambda x: x >> 13) if ta == "tf32" else (lambda x: x)
                d[i][j] = dot_add([cut(x) for x in a[i]], ta, [cut(x) for x in column], tb, c[i][j], td, 13 if eight else 25,
                                  13 if eight else 23)
            elif ta == "b1":
                d[i][j] = (c[i][j] + sum(x & y for x, y in zip(a[i], column))) & 0xFFFFFFFF
            else:
                total = signed("s32", c[i][j]) + sum(signed(ta, x) * signed(tb, y) for x, y in zip(a[i], column))
                d[i][j] = (max(-2**31, min(2**31 - 1, total)) if saturate else total) & 0xFFFFFFFF
    width = WIDTHS[ta]

    def image(rows, depth):  # rows of A or columns of B, along k
        data = [0] * (len(rows) * depth * width // 32)
        for i, row in enumerate(rows):
            for p in range(depth):
                bit = p * width
                byte = i % 8 * 16 + i // 8 * 128 + bit // 128 * (len(rows) // 8 * 128) + bit % 128 // 8
                data[byte // 4] |= row[p] << (byte % 4 * 8 + bit % 8)
        return data

    image_a = image(kept, k)
    image_b = image([[b[p][j] for p in range(full)] for j in range(n)], full)
    per = 32 // width
    threads = ((4, 8, 4), (64 * per, 1, 16))
    a_values = ((per, 2, 2), (64, 8, 64 * 4 * per)) if per > 1 else ((2, 2), (8, 64 * 4))

    def fragment(name, matrix, thread, value, bits, kind):
        per_register = 32 // bits
        count = product(value[0]) // per_register
        regs = [[0] * 128 for _ in range(count)]
        for t in range(128):
            for v in range(product(value[0])):
                at = cute(t, *thread) + cute(v, *value)
                regs[v // per_register][t] |= matrix[at % 64][at // 64] << (v % per_register * bits)
        return [(f"{name}{r}", kind, regs[r]) for r in range(count)]

    kind = "f32" if td == "f32" else "b32"
    c_threads, c_values = ((4, 8, 4), (128, 1, 16)), ((2, 2), (64, 8))
    rc = fragment("c", c, c_threads, c_values, WIDTHS[td], kind)
    rd = fragment("d", d, c_threads, c_values, WIDTHS[td], kind)
    inputs += rc
    copies = [("ga", "sa", len(image_a)), ("gb", "sb", len(image_b))]
    body = ""
    if in_registers:
        ra = fragment("a", kept, threads, a_values, width, "b32")
        inputs += ra
        copies = copies[1:]
    for buffer, shared, words in copies:
        body += (f"setp.lt.u32 q, tid_, {words // 4};\nmul.wide.u32 o0, tid_, 16;\nadd.u64 o0, {buffer}, o0;\n"
                 f"@q ld.global.v4.b32 {{x0, x1, x2, x3}}, [o0];\nmov.u32 s0, {shared};\nshl.b32 s1, tid_, 4;\n"
                 "add.u32 s0, s0, s1;\n@q st.shared.v4.b32 [s0], {x0, x1, x2, x3};\n")
    body += "fence.proxy.async;\nbar.sync 0;\n"
    for name, shared, leading in (("o1", "sa", 1024), ("o2", "sb", 128))[in_registers:]:
        body += (f"mov.u32 s0, {shared};\nshr.u32 s0, s0, 4;\ncvt.u64.u32 {name}, s0;\n"
                 f"or.b64 {name}, {name}, 0x{leading >> 4 << 16 | 128 >> 4 << 32:x};\n")
    for x, y in zip(rd, rc):
        body += f"mov.b32 {x[0]}, {y[0]};\n"
    op = ".and.popc" if ta == "b1" else ""
    scales = "" if td == "s32" else ", 1, 1"
    if ta in ("f16", "bf16"):
        scales += ", 0" if in_registers else ", 0, 0"
    body += (f"wgmma.fence.sync.aligned;\nwgmma.mma_async{'.sp' if is_sparse else ''}.sync.aligned.m64n8k{full}"
             f"{'.satfinite' if saturate else ''}.{td}.{ta}.{tb}{op} {braces(rd)}, {braces(ra) if in_registers else 'o1'}, o2, "
             + (f"e, {sparse_selector}, " if is_sparse else "") + f"1{scales};\n"
             "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;")
    extra = ["module .shared .align 128 .b8 sa[2048];", "module .shared .align 128 .b8 sb[512];", "reg .b64 o<3>;",
             "reg .b32 x<4>, s<2>;", "reg .pred q;"]
    extra += [f"mem {buffer} b32: " + " ".join(f"0x{x:x}" for x in data)
              for buffer, data in (("ga", image_a), ("gb", image_b)) if buffer in [c[0] for c in copies]]
    name = (f"wgmma{'_sp' if is_sparse else ''}_m64n8k{full}_{td}_{ta}_{tb}{'_a_in_registers' if in_registers else ''}"
            f"{f'_sel{sparse_selector}' if is_sparse else ''}{'_sat' if saturate else ''}{tag}")
    case(name, "layouts as CuTe's atoms, arithmetic as MMA-Sim", body, inputs, rd, "sm_90a", extra)


def wmma(shape, types, layouts, arch=80, op=None, rounding=".rn"):
    """Through memory, as the layout of wmma fragments is not specified: a, b and c by load, d by store."""
    m, n, k = shape
    td, ta, tb, tc = types
    rng = random.Random(f"wmma{shape}{types}{layouts}{op}")
    if ta in FLOATS:  # small integers: exact in any order
        def small(kind, count):
            f = FLOATS[kind]
            x = [encode(f, Fraction(rng.randrange(-7, 8)), True) for _ in range(count)]
            return [v << 13 for v in x] if kind == "tf32" else x
    else:
        def small(kind, count):
            return [element(kind, rng) for _ in range(count)]
    a = [small(ta, k) for _ in range(m)]
    b = [small(tb, n) for _ in range(k)]
    c = [small(tc, n) for _ in range(m)]
    d = multiply(a, b, c, m, n, k, ta, tb, tc, td, arch, op=op, rounding=rounding[1:])

    def memory(matrix, layout, kind):
        flat = [x for row in (matrix if layout == "row" else zip(*matrix)) for x in row]
        w = WIDTHS[kind]
        unit = max(w, 8)
        return [sum(flat[i + e] << (e * w) for e in range(unit // w)) for i in range(0, len(flat), unit // w)]

    la, lb, lc, ld = layouts
    counts = {"f16": {"a": 8, "b": 8, "c": m * n // 64}, "bf16": {"a": m * k // 64, "b": k * n // 64},
              "tf32": {"a": m * k // 32, "b": k * n // 32}, "f64": {"a": 1, "b": 1, "c": 2},
              "f32": {"c": m * n // 32}, "s32": {"c": m * n // 32}, "s8": {"a": m * k // 128, "b": k * n // 128},
              "u8": {"a": m * k // 128, "b": k * n // 128}, "s4": {"a": 1, "b": 1}, "u4": {"a": 1, "b": 1},
              "b1": {"a": 1, "b": 1}}

    def group(name, kind, role):
        return "{" + ", ".join(f"{name}{i}" for i in range(counts[kind][role])) + "}"

    def length(layout, rows, cols):
        return cols if layout == "row" else rows

    s = f"m{m}n{n}k{k}"
    rn = rounding if ta == "f64" else ""
    product_types = f"{td}.{tc}" if ta == "f16" else f"{td}.{ta}.{tb}.{tc}"
    body = (f"wmma.load.a.sync.aligned.{la}.{s}.global.{ta} {group('a', ta, 'a')}, [ga], {length(la, m, k)};\n"
            f"wmma.load.b.sync.aligned.{lb}.{s}.global.{tb} {group('b', tb, 'b')}, [gb], {length(lb, k, n)};\n"
            f"wmma.load.c.sync.aligned.{lc}.{s}.global.{tc} {group('c', tc, 'c')}, [gc], {length(lc, m, n)};\n"
            f"wmma.mma{'.' + op + '.popc' if op else ''}.sync.aligned.{la}.{lb}.{s}{rn}.{product_types} "
            f"{group('d', td, 'c')}, {group('a', ta, 'a')}, {group('b', tb, 'b')}, {group('c', tc, 'c')};\n"
            f"wmma.store.d.sync.aligned.{ld}.{s}.global.{td} [gd], {group('d', td, 'c')}, {length(ld, m, n)};")

    def buffer(name, matrix, layout, kind, after=""):
        w = max(8, WIDTHS[kind])
        values = " ".join(f"0x{x:0{w // 4}x}" for x in memory(matrix, layout, kind))
        return f"mem {name} b{w}: {values}{after}"

    zeros = [[0] * n for _ in range(m)]
    result = " -> " + " ".join(f"0x{x:x}" for x in memory(d, ld, td))
    extra = [f"reg .{'f64' if ta == 'f64' else 'b32'} a<8>, b<8>;", f"reg .{'f64' if tc == 'f64' else 'f32' if tc == 'f32' else 'b32'} c<8>;",
             f"reg .{'f64' if td == 'f64' else 'f32' if td == 'f32' else 'b32'} d<8>;",
             buffer("ga", a, la, ta), buffer("gb", b, lb, tb), buffer("gc", c, lc, tc), buffer("gd", zeros, ld, td, result)]
    lanes = list(range(LANES))
    case(f"wmma_{s}_{td}_{ta}_{tb}_{tc}_{la}_{lb}{'_' + op if op else ''}{'' if rounding == '.rn' else rounding.replace('.', '_')}", "through memory; small integers are exact",
         body, [("x", "b32", lanes)], [("x", "b32", lanes)], f"sm_{arch}", extra)


def matrices_8x8():
    """ldmatrix, stmatrix, movmatrix of 16-bit elements (PTX ISA, "Warp-level matrix load instruction: ldmatrix"):
    lane 8 i + r gives the address of row r of matrix i; lane l holds elements 2 (l mod 4) and the next of row
    l / 4, or with .trans of column l / 4."""
    rng = random.Random("ldmatrix")
    halves = [[rng.getrandbits(16) for _ in range(8)] for _ in range(LANES)]  # sixteen bytes of each lane
    words = [[h[2 * i] | h[2 * i + 1] << 16 for h in halves] for i in range(4)]
    rows = [(5 * lane + 3) % 32 for lane in range(LANES)]  # where each lane's row lies
    shared = ["module .shared .align 16 .b8 s[512];", "reg .b32 p<3>;", "reg .b64 g2;"]
    source = [(f"a{i}", "b32", words[i]) for i in range(4)]
    address = ("mov.u32 p0, s;\nshl.b32 p1, tid_, 4;\nadd.u32 p1, p0, p1;\nshl.b32 p2, r, 4;\nadd.u32 p2, p0, p2;\n")
    for trans in ("", ".trans"):
        def register(i, where):
            def at(row, col):
                return where[8 * i + row][col]
            return [at(t, g) | at(t + 1, g) << 16 if trans else at(g, t) | at(g, t + 1) << 16
                    for g, t in ((lane // 4, 2 * (lane % 4)) for lane in range(LANES))]
        for count, space in itertools.product((1, 2, 4), (".shared", ".shared::cta", "")):
            group = "{" + ", ".join(f"d{i}" for i in range(count)) + "}"
            given = [halves[rows[lane]] for lane in range(LANES)]
            tag = trans.replace(".", "_") + {".shared": "", ".shared::cta": "_cta", "": "_generic"}[space]
            at_row = "[p2]" if space else "[g2]"
            generic = "" if space else "cvt.u64.u32 g2, p2;\ncvta.shared.u64 g2, g2;\n"
            case(f"ldmatrix_x{count}{tag}", "rows or columns of 8 x 8 matrices",
                 address + "st.shared.v4.b32 [p1], {a0, a1, a2, a3};\nbar.warp.sync 0xffffffff;\n"
                 f"{generic}ldmatrix.sync.aligned.m8n8.x{count}{trans}{space}.b16 {group}, {at_row};",
                 source + [("r", "b32", rows)], [(f"d{i}", "b32", register(i, given)) for i in range(count)], "sm_75", shared)
            # What stmatrix stores, ordinary loads find: the fragment of lane-ordered rows, scattered by `rows`.
            fragment = [(f"a{i}", "b32", register(i, halves)) for i in range(count)]
            stored = [[0] * 8 for _ in range(LANES)]
            for lane in range(8 * count):
                stored[rows[lane]] = halves[lane]
            case(f"stmatrix_x{count}{tag}", "rows or columns of 8 x 8 matrices",
                 address + "mov.u32 d0, 0;\nst.shared.v4.b32 [p1], {d0, d0, d0, d0};\nbar.warp.sync 0xffffffff;\n"
                 f"{generic}stmatrix.sync.aligned.m8n8.x{count}{trans}{space}.b16 {at_row}, {group.replace('d', 'a')};\n"
                 "bar.warp.sync 0xffffffff;\nld.shared.v4.b32 {d0, d1, d2, d3}, [p1];",
                 fragment + [("r", "b32", rows)],
                 [(f"d{i}", "b32", [h[2 * i] | h[2 * i + 1] << 16 for h in stored]) for i in range(4)], "sm_90", shared)
    def at(row, col):
        return halves[row][col]
    case("movmatrix", "transposes the 8 x 8 matrix of a register",
         "movmatrix.sync.aligned.m8n8.trans.b16 d, a;",
         [("a", "b32", [at(g, t) | at(g, t + 1) << 16 for g, t in ((lane // 4, 2 * (lane % 4)) for lane in range(LANES))])],
         [("d", "b32", [at(t, g) | at(t + 1, g) << 16 for g, t in ((lane // 4, 2 * (lane % 4)) for lane in range(LANES))])],
         "sm_75")


def write_all():
    matrices_8x8()
    for arch in (75, 80, 90):
        for td in ("f16", "f32"):
            dense((16, 8, 8), (td, "f16", "f16", td), arch)
    for arch in (80, 90):
        for td in ("f16", "f32"):
            dense((16, 8, 16), (td, "f16", "f16", td), arch)
            dense((16, 8, 16), (td, "f16", "f16", td), arch, tag="_specials", specials=True)
        for k in (8, 16):
            dense((16, 8, k), ("f32", "bf16", "bf16", "f32"), arch)
        for k in (4, 8):
            dense((16, 8, k), ("f32", "tf32", "tf32", "f32"), arch)
    dense((16, 8, 16), ("f32", "bf16", "bf16", "f32"), 90, tag="_specials", specials=True)
    dense((16, 8, 8), ("f32", "tf32", "tf32", "f32"), 90, tag="_specials", specials=True)
    for arch in (89, 90):
        for ta in ("e4m3", "e5m2"):
            for tb in ("e4m3", "e5m2"):
                for td in ("f16", "f32"):
                    for k in (16, 32):
                        dense((16, 8, k), (td, ta, tb, td), arch)
    dense((8, 8, 4), ("f64",) * 4, 80)
    for k in (4, 8, 16):
        dense((16, 8, k), ("f64",) * 4, 90)
    for rounding in (".rn", ".rz", ".rm", ".rp"):
        dense((8, 8, 4), ("f64",) * 4, 80, rounding=rounding)
        for k in (4, 8, 16):
            dense((16, 8, k), ("f64",) * 4, 90, rounding=rounding)
    for kinds, shapes in ((("s8", "u8"), ((8, 8, 16), (16, 8, 16), (16, 8, 32))),
                          (("s4", "u4"), ((8, 8, 32), (16, 8, 32), (16, 8, 64)))):
        for shape in shapes:
            for ta in kinds:
                for tb in kinds:
                    for saturate in (False, True):
                        dense(shape, ("s32", ta, tb, "s32"), 80 if shape[0] == 16 else 75, saturate=saturate)
    for shape in ((8, 8, 128), (16, 8, 128), (16, 8, 256)):
        for op in ("xor", "and"):
            dense(shape, ("s32", "b1", "b1", "s32"), 80, op=op)
    for a_layout in ("row", "col"):
        for b_layout in ("row", "col"):
            for tc, td in (("f16", "f16"), ("f16", "f32"), ("f32", "f32")):
                quad_pairs(a_layout, b_layout, tc, td)
    for variant in ("sp", "sp::ordered_metadata"):
        for kind, k16, k32, td in (("f16", 16, 32, "f16"), ("f16", 16, 32, "f32"), ("bf16", 16, 32, "f32"), ("tf32", 8, 16, "f32")):
            for selector in range(4 if variant == "sp" else 1):
                sparse((16, 8, k16), (td, kind, kind, td), 80, selector, variant)
            for selector in range(2):
                sparse((16, 8, k32), (td, kind, kind, td), 80 if selector else 90, selector, variant)
        for ta in ("e4m3", "e5m2"):
            for tb in ("e4m3", "e5m2"):
                sparse((16, 8, 64), ("f32", ta, tb, "f32"), 90, 0, variant)
        for kinds, short in ((("s8", "u8"), 32), (("s4", "u4"), 64)):
            for ta in kinds:
                for tb in kinds:
                    for selector in range(2):
                        sparse((16, 8, short), ("s32", ta, tb, "s32"), 80, selector, variant)
                    sparse((16, 8, 2 * short), ("s32", ta, tb, "s32"), 80, 0, variant)
                    for k in (short, 2 * short):
                        sparse((16, 8, k), ("s32", ta, tb, "s32"), 80, 0, variant, saturate=True)
    sparse((16, 8, 16), ("f32", "f16", "f16", "f32"), 80, 1, "sp::ordered_metadata", "_out_of_order", wrong=0b0001)
    sparse((16, 8, 8), ("f32", "tf32", "tf32", "f32"), 80, 1, "sp", "_undefined_bits", wrong=0b1111)
    forms = [(("f32", "f16", "f16"), 16), (("f16", "f16", "f16"), 16), (("f32", "bf16", "bf16"), 16),
             (("f32", "tf32", "tf32"), 8)]
    forms += [((td, ta, tb), 32) for ta in ("e4m3", "e5m2") for tb in ("e4m3", "e5m2") for td in ("f16", "f32")]
    forms += [(("s32", ta, tb), 32) for ta in ("s8", "u8") for tb in ("s8", "u8")]
    for types, k in forms:
        for in_registers in (False, True):
            warpgroup(types, k, in_registers)
        selectors = range(1) if WIDTHS[types[1]] == 8 else range(2)
        for selector in selectors:
            warpgroup(types, k, bool(selector) or types[1] == "u8", selector)
        if types[0] == "s32":
            warpgroup(types, k, saturate=True)
    for in_registers in (False, True):
        warpgroup(("s32", "b1", "b1"), 256, in_registers)
    warpgroup(("f32", "f16", "f16"), 16, tag="_specials", specials=True)
    warpgroup(("f16", "e5m2", "e4m3"), 32, tag="_specials", specials=True)
    for shape in ((16, 16, 16), (32, 8, 16), (8, 32, 16)):
        for la, lb in (("row", "col"), ("col", "row")):
            for tc, td in (("f16", "f16"), ("f16", "f32"), ("f32", "f16"), ("f32", "f32")):
                wmma(shape, (td, "f16", "f16", tc), (la, lb, "row", "col"))
            wmma(shape, ("f32", "bf16", "bf16", "f32"), (la, lb, "col", "row"))
            for kind in ("s8", "u8"):
                wmma(shape, ("s32", kind, kind, "s32"), (la, lb, "row", "row"))
    wmma((16, 16, 8), ("f32", "tf32", "tf32", "f32"), ("row", "col", "row", "row"))
    wmma((16, 16, 8), ("f32", "tf32", "tf32", "f32"), ("col", "row", "row", "row"))
    wmma((8, 8, 4), ("f64",) * 4, ("row", "col", "row", "row"))
    for rounding in (".rz", ".rm", ".rp"):
        for la in ("row", "col"):
            for lb in ("row", "col"):
                wmma((8, 8, 4), ("f64",) * 4, (la, lb, la, lb), rounding=rounding)
    for kind in ("s4", "u4"):
        wmma((8, 8, 32), ("s32", kind, kind, "s32"), ("row", "col", "row", "col"))
    for op in ("xor", "and"):
        wmma((8, 8, 128), ("s32", "b1", "b1", "s32"), ("row", "col", "row", "row"), op=op)
