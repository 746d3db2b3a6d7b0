"""Every width of wgmma's 16-bit products. A and B lie along k without swizzle (CuTe's Layout_K_INTER_Atom: 8 rows by 16
bytes, rows first), the accumulators as CLayout_64xN: what a narrow product has, repeated every 8 columns. All values are
small integers, so that every sum is exact; each thread folds its registers into one word, in their order."""
import random
import struct

from case_writer import Family

SOURCE = "matrix products of small integers, which are exact in every format; layouts as CuTe's atoms"
K, WIDEST = 16, 256


def half(t, x):
    return struct.unpack("<H", struct.pack("<e", x))[0] if t == "f16" else struct.unpack("<I", struct.pack("<f", x))[0] >> 16


def image(rows, t):
    """Words of shared memory: atoms of 8 rows by 16 bytes, those of 8 rows one after the other along k."""
    words = [0] * (len(rows) * K // 2)
    for r, row in enumerate(rows):
        for k, x in enumerate(row):
            at = r // 8 * 8 * K + k // 8 * 64 + r % 8 * 8 + k % 8
            words[at // 2] |= half(t, x) << (at % 2 * 16)
    return words


def write_all():
    rng = random.Random("wgmma widths")
    a = [[rng.randint(-5, 5) for _ in range(K)] for _ in range(64)]
    b = [[rng.randint(-5, 5) for _ in range(K)] for _ in range(WIDEST)]  # by columns
    product = [[sum(x * y for x, y in zip(row, column)) for column in b] for row in a]
    for td, t in (("f16", "f16"), ("f32", "f16"), ("f32", "bf16")):
        declare = ["module .shared .align 128 .b8 sa[2048];", "module .shared .align 128 .b8 sb[8192];", "reg .b64 o<3>;", "reg .b32 x<4>, s<2>, i;", "reg .pred q;",
                   f"reg .{'b32' if td == 'f16' else 'f32'} c<128>;"]
        declare += [f"mem g{name} b32: " + " ".join(f"0x{x:x}" for x in image(rows, t)) for name, rows in (("a", a), ("b", b))]
        with Family(f"wgmma_widths_{td}_{t}", SOURCE, [("t", "b32", list(range(128)))], declare, "sm_90a") as family:
            for n in range(8, WIDEST + 1, 8):
                count = n // 4 if td == "f16" else n // 2
                body = ""
                for buffer, shared, size in (("ga", "sa", 2048), ("gb", "sb", 32 * n)):
                    for at in range(0, size, 2048):
                        body += (f"setp.lt.u32 q, tid_, {min(2048, size - at) // 16};\nmul.wide.u32 o0, tid_, 16;\nadd.u64 o0, {buffer}, o0;\n@q ld.global.v4.b32 {{x0, x1, x2, x3}}, [o0+{at}];\n"
                                 f"mov.u32 s0, {shared};\nshl.b32 s1, tid_, 4;\nadd.u32 s0, s0, s1;\n@q st.shared.v4.b32 [s0+{at}], {{x0, x1, x2, x3}};\n")
                body += "fence.proxy.async;\nbar.sync 0;\n"
                for name, shared in (("o1", "sa"), ("o2", "sb")):  # the next atom along k 128 bytes on, the next 8 rows 256
                    body += f"mov.u32 s0, {shared};\nshr.u32 s0, s0, 4;\ncvt.u64.u32 {name}, s0;\nor.b64 {name}, {name}, 0x{128 >> 4 << 16 | 256 >> 4 << 32:x};\n"
                start = [r % 7 - 3 for r in range(2 * count if td == "f16" else count)]
                for r in range(count):
                    if td == "f16":
                        body += f"mov.b32 c{r}, 0x{half(td, start[2 * r]) | half(td, start[2 * r + 1]) << 16:x};\n"
                    else:
                        body += f"mov.b32 c{r}, 0x{struct.unpack('<I', struct.pack('<f', start[r]))[0]:x};\n"
                group = ", ".join(f"c{r}" for r in range(count))
                body += ("wgmma.fence.sync.aligned;\n" f"wgmma.mma_async.sync.aligned.m64n{n}k{K}.{td}.{t}.{t} {{{group}}}, o1, o2, 1, 1, 1, 0, 0;\n"
                         "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\nmov.u32 d, 0;\n")
                for r in range(count):
                    body += (f"mad.lo.u32 d, d, 31, c{r};\n" if td == "f16" else f"mov.b32 i, c{r};\nmad.lo.u32 d, d, 31, i;\n")
                folded = []
                for thread in range(128):
                    # CLayout_64xN: value v of a thread is column 8 (v / 4) + 2 (thread % 4) + v % 2, row 16 (thread / 32) + thread / 4 % 8 + 8 (v / 2 % 2).
                    cell = [product[thread // 32 * 16 + thread // 4 % 8 + 8 * (v // 2 % 2)][8 * (v // 4) + thread % 4 * 2 + v % 2] + start[v] for v in range(n // 2)]
                    if td == "f16":
                        words = [half(td, cell[2 * r]) | half(td, cell[2 * r + 1]) << 16 for r in range(count)]
                    else:
                        words = [struct.unpack("<I", struct.pack("<f", x))[0] for x in cell]
                    value = 0
                    for w in words:
                        value = (value * 31 + w) & 0xFFFFFFFF
                    folded.append(value)
                family.add(f"wgmma_{td}_{t}_n{n}", "64 rows, so many columns", body, [("d", "b32", folded)])
