"""Matrices of four-, six- and eight-bit elements at warp level: mma with kind::f8f6f4 and block scaling (sm_120a), ldmatrix and
stmatrix of bytes (sm_100a). Fragments as the ISA's figures and CuTe's traits have them; products as in tcgen05_cases.py."""
import random

from case_writer import Family
from tcgen05_cases import MASK32, TYPES, codes, dot, hash_of, scaled_dot

NARROW = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
SOURCE = "MMA-Sim's recipe (arXiv 2511.10909) on exact fractions; fragments by the ISA's rules (narrow_matrix_cases.py)"


def container(t, x):
    """An element in its byte: e2m1 in bits 2 to 5."""
    return x << 2 if t == "e2m1" else x


def fragments(a, b, ta, tb, k):
    """Registers of A and of B, [register][lane]."""
    per, bits = (8, 4) if k == 64 else (4, 8)
    hold = (lambda t, x: x) if k == 64 else container
    ra, rb = [[0] * 32 for _ in range(4)], [[0] * 32 for _ in range(2)]
    for lane in range(32):
        g, t = divmod(lane, 4)
        for r in range(4):
            for e in range(per):
                ra[r][lane] |= hold(ta, a[g + 8 * (r % 2)][t * per + e + 4 * per * (r // 2)]) << bits * e
        for r in range(2):
            for e in range(per):
                rb[r][lane] |= hold(tb, b[g][t * per + e + 4 * per * r]) << bits * e
    return ra, rb


def accumulators(c, d):
    """[register][lane] of 16 x 8."""
    place = lambda lane, i: (lane // 4 + 8 * (i // 2), lane % 4 * 2 + i % 2)
    at = lambda lane, i: c[place(lane, i)[0]][place(lane, i)[1]]
    if d == "f16":
        return [[at(lane, 2 * r) | at(lane, 2 * r + 1) << 16 for lane in range(32)] for r in range(2)]
    return [[at(lane, i) for lane in range(32)] for i in range(4)]


def listed(name, count):
    return "{" + ", ".join(f"{name}{i}" for i in range(count)) + "}"


def product(family, op, ta, tb, d, k, groups=0, stype=None, ids=(0, 0, 0, 0)):
    r = random.Random(hash_of(op + ta + tb + str(ids)))
    a, b = [codes(r, ta, k) for _ in range(16)], [codes(r, tb, k) for _ in range(8)]
    c = [codes(r, "f16" if d == "f16" else "tf32", 8) for _ in range(16)]
    ra, rb = fragments(a, b, ta, tb, k)
    rc = accumulators(c, d)
    ins = [(f"a{i}", "b32", x) for i, x in enumerate(ra)] + [(f"b{i}", "b32", x) for i, x in enumerate(rb)] + [(f"c{i}", "b32", x) for i, x in enumerate(rc)]
    tail = ""
    if groups:
        pick = lambda: r.randrange(120, 134) if stype == "ue8m0" else r.choice([x for x in range(128) if x != 0x7F])
        sa, sb = ([sum(pick() << 8 * i for i in range(4)) for _ in range(32)] for _ in range(2))
        ins += [("sa", "b32", sa), ("sb", "b32", sb)]
        tail = f", sa, {{{ids[0]}, {ids[1]}}}, sb, {{{ids[2]}, {ids[3]}}}"
        cut = lambda word, byte: [word >> 8 * (byte + g) & 0xFF for g in range(groups)]
        scales_a = [cut(sa[4 * (row % 8) + 2 * ids[1] + row // 8], ids[0]) for row in range(16)]
        scales_b = [cut(sb[4 * column + ids[3]], ids[2]) for column in range(8)]
        result = [[scaled_dot(a[i], b[j], ta, tb, c[i][j], scales_a[i], scales_b[j], stype) for j in range(8)] for i in range(16)]
    else:
        result = [[dot(a[i], b[j], ta, tb, c[i][j], d) for j in range(8)] for i in range(16)]
    out = accumulators(result, d)
    family.add(op + f"_{'_'.join(map(str, ids))}" if groups else op, "the fragments multiplied", f"{op} {listed('d', len(out))}, {listed('a', 4)}, {listed('b', 2)}, {listed('c', len(rc))}{tail};",
               [(f"d{i}", "b32", x) for i, x in enumerate(out)], ins)


def products():
    with Family("mma_f8f6f4", SOURCE, target="sm_120a") as family:
        for ta in NARROW:
            for tb in NARROW:
                for d in ("f32", "f16"):
                    product(family, f"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.{d}.{ta}.{tb}.{d}", ta, tb, d, 32)
    with Family("mma_block_scale", SOURCE, target="sm_120a") as family:
        number = 0
        for ta in NARROW:
            for tb in NARROW:
                ids = (number % 4, number % 2, (number + 1) % 4, (number + 2) % 4)
                number += 1
                vector = ".scale_vec::1X" if number % 2 else ""
                product(family, f"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale{vector}.f32.{ta}.{tb}.f32.ue8m0", ta, tb, "f32", 32, 1, "ue8m0", ids)
        for vector in ("", ".scale_vec::2X"):
            for ids in ((0, 0, 2, 3), (2, 1, 0, 1)):
                product(family, f"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale{vector}.f32.e2m1.e2m1.f32.ue8m0", "e2m1", "e2m1", "f32", 64, 2, "ue8m0", ids)
        for groups, stype in ((2, "ue8m0"), (4, "ue4m3")):
            for ids in ((0, 1, 0, 2), (0, 0, 0, 0) if groups == 4 else (2, 0, 2, 1)):
                product(family, f"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::{groups}X.f32.e2m1.e2m1.f32.{stype}", "e2m1", "e2m1", "f32", 64, groups, stype, ids)


def moves():
    source = "the ISA's figures of fragments, as CuTe's SM100_..._LDSM_... and ..._STSM_T have them"
    r = random.Random(991)
    rows = [[r.randrange(1 << 32) for _ in range(4)] for _ in range(32)]
    memory = ["module .shared .align 16 .b8 s[512];", "reg .b32 q<2>;"]
    words = [(f"w{i}", "b32", [row[i] for row in rows]) for i in range(4)]
    fill = "mov.u32 q0, s;\nmad.lo.u32 q1, tid_, 16, q0;\nst.shared.v4.b32 [q1], {w0, w1, w2, w3};\nbar.warp.sync 0xffffffff;\n"

    def element(row, e, bits):
        return sum(word << 32 * i for i, word in enumerate(rows[row])) >> bits * e & (1 << bits) - 1

    with Family("ldmatrix_small", source, words, memory, "sm_100a") as family:
        for shape, counts, types in (("m16n16", (1, 2), (("b8", 8), ("b8x16.b6x16_p32", 6), ("b8x16.b4x16_p64", 4))), ("m8n16", (1, 2, 4), (("b8x16.b6x16_p32", 6), ("b8x16.b4x16_p64", 4)))):
            tall = shape == "m16n16"
            for count in counts:
                for t, bits in types:
                    for space in ("", ".shared", ".shared::cta"):
                        out = []
                        for number in range(count * (2 if tall else 1)):
                            first, half = (number // 2 * 16, number % 2) if tall else (number * 8, 0)
                            out.append([sum(element(first + (4 * (x % 4) + e if tall else x // 4), x // 4 + 8 * half if tall else 4 * (x % 4) + e, bits) << 8 * e for e in range(4)) for x in range(32)])
                        op = f"ldmatrix.sync.aligned.{shape}.x{count}{'.trans' if tall else ''}{space}.{t}"
                        address = "q1" if space else "p"
                        generic = "" if space else "cvt.u64.u32 p, q1;\ncvta.shared.u64 p, p;\n"
                        family.add(op, "elements to bytes of registers", fill + generic + f"{op} {listed('d', len(out))}, [{address}];", [(f"d{i}", "b32", x) for i, x in enumerate(out)],
                                   extra=[] if space else ["reg .b64 p;"])
    values = [[r.randrange(1 << 32) for _ in range(32)] for _ in range(4)]
    with Family("stmatrix_small", source, [(f"v{i}", "b32", x) for i, x in enumerate(values)], memory, "sm_100a") as family:
        for count in (1, 2, 4):
            for space in ("", ".shared", ".shared::cta"):
                stored = [[0] * 16 for _ in range(32)]
                for number in range(count):
                    for x in range(32):
                        for e in range(4):
                            stored[8 * number + 2 * (x % 4) + e % 2][x // 4 + 8 * (e // 2)] = values[number][x] >> 8 * e & 0xFF
                op = f"stmatrix.sync.aligned.m16n8.x{count}.trans{space}.b8"
                address = "q1" if space else "p"
                generic = "" if space else "cvt.u64.u32 p, q1;\ncvta.shared.u64 p, p;\n"
                body = ("mov.u32 q0, s;\nmad.lo.u32 q1, tid_, 16, q0;\nmov.b32 z, 0;\nst.shared.v4.b32 [q1], {z, z, z, z};\nbar.warp.sync 0xffffffff;\n" + generic +
                        f"{op} [{address}], {listed('v', count)};\nbar.warp.sync 0xffffffff;\nld.shared.v4.b32 {{d0, d1, d2, d3}}, [q1];")
                family.add(op, "bytes of registers to rows", body, [(f"d{i}", "b32", [int.from_bytes(bytes(row[4 * i:4 * i + 4]), "little") for row in stored]) for i in range(4)],
                           extra=["reg .b32 z;"] + ([] if space else ["reg .b64 p;"]))


def write_all():
    products()
    moves()
