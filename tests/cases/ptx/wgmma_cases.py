"""Every width of wgmma's dense products. A and B lie along k without swizzle (CuTe's Layout_K_INTER_Atom: 8 rows by 16
bytes; a row of k is 32 bytes for all types), the accumulators as CLayout_64xN: what a narrow product has, repeated every 8
columns. All values are small integers, so that every sum is exact; each thread folds its registers into one word, in order."""
import random
import struct

from case_writer import Family

SOURCE = "matrix products of small integers, which are exact in every format; layouts as CuTe's atoms"
WIDEST, ROW = 256, 32  # columns, bytes of a row along k
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "b1": 1}


def encode(t, x):
    """The bits of a small integer."""
    if t == "f16":
        return struct.unpack("<H", struct.pack("<e", x))[0]
    if t in ("f32", "tf32", "bf16"):
        return struct.unpack("<I", struct.pack("<f", x))[0] >> (16 if t == "bf16" else 0)
    if t in ("e4m3", "e5m2"):
        mantissa, bias = (3, 7) if t == "e4m3" else (2, 15)
        if x == 0:
            return 0
        e = abs(x).bit_length() - 1
        fraction = (abs(x) << mantissa >> e) - (1 << mantissa)
        assert (fraction + (1 << mantissa)) << e == abs(x) << mantissa
        return (x < 0) << 7 | e + bias << mantissa | fraction
    return x & (0xFFFFFFFF if t == "s32" else (1 << BITS[t]) - 1)


def image(rows, t):
    """Words of shared memory: of 8 rows the first 16 bytes each, then their other 16 bytes, then the next 8 rows."""
    out = bytearray(len(rows) * ROW)
    for r, row in enumerate(rows):
        line = sum(encode(t, x) << (k * BITS[t]) for k, x in enumerate(row)).to_bytes(ROW, "little")
        at = r // 8 * 8 * ROW + r % 8 * 16
        out[at:at + 16], out[at + 128:at + 144] = line[:16], line[16:]
    return [int.from_bytes(out[i:i + 4], "little") for i in range(0, len(out), 4)]


def operands(t, columns, rng):
    low, high = {"u8": (0, 200), "s8": (-100, 100), "b1": (0, 1)}.get(t, (-5, 5))
    return [[rng.randint(low, high) for _ in range(ROW * 8 // BITS[t])] for _ in range(columns)]


def family(td, ta, tb, accumulates, saturates=False):
    """`accumulates`: onto values that the registers hold; else scale-d is false."""
    rng = random.Random(f"wgmma widths {ta} {tb}")
    a, b = operands(ta, 64, rng), operands(tb, WIDEST, rng)
    k = ROW * 8 // BITS[ta]
    product = [[sum(x & y if ta == "b1" else x * y for x, y in zip(row, column)) for column in b] for row in a]
    declare = ["module .shared .align 128 .b8 sa[2048];", "module .shared .align 128 .b8 sb[8192];", "reg .b64 o<3>;", "reg .b32 x<4>, s<2>, c<128>;", "reg .pred q;"]
    declare += [f"mem g{name} b32: " + " ".join(f"0x{x:x}" for x in image(rows, t)) for name, rows, t in (("a", a, ta), ("b", b, tb))]
    packed = td == "f16"
    finite = ".satfinite" if saturates else ""
    with Family(f"wgmma_widths_{td}_{ta}_{tb}{finite.replace('.', '_')}", SOURCE, [("t", "b32", list(range(128)))], declare, "sm_90a") as out:
        for n in range(8, WIDEST + 1, 8):
            if td == "s32" and n > 32 and n % 16:
                continue
            count = n // 4 if packed else n // 2
            body = ""
            for buffer, shared, size in (("ga", "sa", 64 * ROW), ("gb", "sb", ROW * n)):
                for at in range(0, size, 2048):
                    body += (f"setp.lt.u32 q, tid_, {min(2048, size - at) // 16};\nmul.wide.u32 o0, tid_, 16;\nadd.u64 o0, {buffer}, o0;\n@q ld.global.v4.b32 {{x0, x1, x2, x3}}, [o0+{at}];\n"
                             f"mov.u32 s0, {shared};\nshl.b32 s1, tid_, 4;\nadd.u32 s0, s0, s1;\n@q st.shared.v4.b32 [s0+{at}], {{x0, x1, x2, x3}};\n")
            body += "fence.proxy.async;\nbar.sync 0;\n"
            for name, shared in (("o1", "sa"), ("o2", "sb")):  # the next 16 bytes along k 128 bytes on, the next 8 rows 256
                body += f"mov.u32 s0, {shared};\nshr.u32 s0, s0, 4;\ncvt.u64.u32 {name}, s0;\nor.b64 {name}, {name}, 0x{128 >> 4 << 16 | 256 >> 4 << 32:x};\n"
            start = [v % 7 - 3 if accumulates else 0 for v in range(n // 2)]
            words = lambda values: [encode("f16", x) | encode("f16", y) << 16 for x, y in zip(values[::2], values[1::2])] if packed else [encode(td, x) for x in values]
            if accumulates:
                body += "".join(f"mov.b32 c{r}, 0x{x:x};\n" for r, x in enumerate(words(start)))
            group = ", ".join(f"c{r}" for r in range(count))
            scales = "" if td == "s32" else ", 1, 1" + (", 0, 0" if BITS[ta] == 16 else "")
            body += (f"wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n{n}k{k}{finite}.{td}.{ta}.{tb}{'.and.popc' if ta == 'b1' else ''} {{{group}}}, o1, o2, {int(accumulates)}{scales};\n"
                     "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\nmov.u32 d, 0;\n")
            body += "".join(f"mad.lo.u32 d, d, 31, c{r};\n" for r in range(count))
            folded = []
            for thread in range(128):
                # CLayout_64xN: value v of a thread is column 8 (v / 4) + 2 (thread % 4) + v % 2, row 16 (thread / 32) + thread / 4 % 8 + 8 (v / 2 % 2).
                cell = [product[thread // 32 * 16 + thread // 4 % 8 + 8 * (v // 2 % 2)][8 * (v // 4) + thread % 4 * 2 + v % 2] + start[v] for v in range(n // 2)]
                value = 0
                for w in words(cell):
                    value = (value * 31 + w) & 0xFFFFFFFF
                folded.append(value)
            out.add(f"wgmma{finite}_{td}_{ta}_{tb}_n{n}", "64 rows, so many columns", body, [("d", "b32", folded)])


def write_all():
    for td, t in (("f16", "f16"), ("f32", "f16"), ("f32", "bf16")):
        family(td, t, t, True)
    family("f32", "tf32", "tf32", True)
    for ta in ("e4m3", "e5m2"):
        for tb in ("e4m3", "e5m2"):
            for td in ("f16", "f32"):
                family(td, ta, tb, False)
    for ta in ("u8", "s8"):
        for tb in ("u8", "s8"):
            for saturates in (False, True):
                family("s32", ta, tb, False, saturates)
    family("s32", "b1", "b1", False)
