#!/usr/bin/env python3
"""Checks with ptxas what tests/cases/ptx/forms.txt claims of the forms that no case can prove.

    scripts/ptx_forms_ptxas.py [--ptxas PROGRAM]

refused: ptxas takes the form for none of its targets, and says that the opcode, its modifiers or its types are wrong,
not the operands that are made up here. removed: likewise, for want of a target or of 64-bit addresses. sm_100: not for
sm_90a, but for a later target. A form with `.*` is checked for one instruction that it stands for; those without one
here are counted.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import ptx_coverage

REGISTERS = (".reg .pred p<8>;\n.reg .b16 h<16>;\n.reg .b32 r<256>;\n.reg .b64 d<24>;\n.reg .f32 f<64>;\n.reg .f64 e<24>;\n"
             ".reg .b128 x<4>;\n")
LATER = ("sm_100a", "sm_120a")
TARGETS = ("sm_75", "sm_80", "sm_89", "sm_90a") + LATER
# What ptxas says when the operands do not fit: no statement about the form.
OPERANDS_WRONG = re.compile(r"Arguments mismatch|Unknown symbol|Parsing error|syntax error|Unexpected operand|Unexpected argument")


def group(letter, count, start=0):
    return "{" + ", ".join(f"{letter}{start + i}" for i in range(count)) + "}"


def register(t, number=0):
    """A register that an element of type t fits."""
    kind = "x" if t == "b128" else "h" if t in ("f16", "bf16") or re.fullmatch(r"[bus](8|16)", t) else \
        "e" if t == "f64" else "d" if t.endswith("64") else "f" if t == "f32" else "r"
    return f"{kind}{number}"


def matrix(t, count, start):
    return group("f", count, start) if t == "f32" else group("r", count // 2 if t == "f16" else count, start)


def product(opcode):
    """Operands of mma and mma.sp, in every number of registers that C and D may have."""
    shape = re.search(r"m(\d+)n(\d+)k(\d+)", opcode)
    m, k = int(shape.group(1)), int(shape.group(3))
    d, a, b, c = re.findall(r"\.((?:f16|f32|bf16|tf32|e4m3|e5m2|e2m3|e3m2|e2m1|s8|u8))(?=\.|$)", opcode)[-4:]
    size = 0.5 if "kind::mxf4" in opcode else {"f16": 2, "bf16": 2, "tf32": 4}.get(a, 1)
    sparse = ".sp" in opcode
    # A register holds four bytes; 32 lanes share the matrix.
    ra, rb = int(m * k * size // (256 if sparse else 128)), int(8 * k * size // 128)
    if m == 8:  # four products, one for each quad pair
        ra = rb = 2
    full = 8 if m == 8 else 4
    for nd in {full, full // 2}:
        for nc in {full, full // 2}:
            yield (f"{group('f' if d == 'f32' else 'r', nd)}, {group('r', ra, 10)}, {group('r', rb, 20)}, {group('f' if c == 'f32' else 'r', nc, 30)}" +
                   (", r50, 0" if sparse else "") + (", r60, {0, 0}, r61, {0, 0}" if "block_scale" in opcode else ""))


def vector(opcode):
    count = re.search(r"\.v(\d)", opcode)
    t = opcode.split(".")[-1]
    return register(t) if not count else group(register(t)[0], int(count.group(1)))


def fixed(*texts):
    return lambda opcode: texts


def binary(opcode):  # d, a, b (and c): by the last type, a mixed form's middle operands by its second
    types = re.findall(r"\.(f32x2|f32|f16x2|f16|bf16|f64)(?=\.|$)", opcode)
    d, s = {"f32x2": "d", "f32": "f", "f16": "h", "bf16": "h"}[types[0]], {"f32x2": "d", "f32": "f", "f16": "h", "bf16": "h"}[types[-1]]
    if opcode.startswith("fma"):
        return (f"{d}0, {s}1, {s}2, {d}3",)
    if opcode[:3] in ("min", "max"):
        return ("f0, f1, f2, f3",)
    return (f"{d}0, {s}1, {d}2",)


def conversion(opcode):
    d, s = opcode.split(".")[-2:]
    if d in ("e4m3x4", "e5m2x4", "e2m1x4", "e2m3x4", "e3m2x4"):
        return (f"{'h0' if d == 'e2m1x4' else 'r0'}, {{f0, f1, f2, f3}}, r1",)
    to = {"f16x2": "r0", "bf16x2": "r0", "tf32": "r0", "e2m3x2": "h0", "e3m2x2": "h0", "ue8m0x2": "h0"}.get(d, register(d))
    if ".rs." in opcode:
        return ("r0, f0, f1, r1",)
    if d == "e2m1x2":
        return ("b0, f0, f1",)
    if s == "e2m1x2":
        return ("r0, b0",)
    if s in ("e2m3x2", "e3m2x2", "ue8m0x2"):
        return ("r0, h0",)
    if d in ("e2m3x2", "e3m2x2"):
        return ("h0, f0, f1",)
    if "bf16" in (d, s) and (d in ("u8", "s8") or s in ("u8", "s8")):  # eight bits may be in any register
        return [f"{a}, {b}" for a in (("h0",) if d == "bf16" else ("h0", "r0", "b0")) for b in (("h1",) if s == "bf16" else ("h1", "r1", "b1"))]
    if d == "ue8m0x2":
        return ("h0, f0, f1",) if s == "f32" else ("h0, r0",)
    return (f"{to}, {register(s, 1)}",)


def tensor_memory(opcode):
    """tcgen05.ld and st: the registers by the shape and its repetitions."""
    shape, times = re.search(r"\.(\d+x\d+bx?2?)\.x(\d+)", opcode).groups()
    registers = group("r", int(times) * {"16x128b": 2, "16x256b": 4}.get(shape, 1))
    address = "[r200]" + (", 16" if shape == "16x32bx2" else "")
    return (f"{registers}, {address}" if ".ld" in opcode else f"{address}, {registers}",)


def bulk(opcode):
    return ("[r0], [r1], r2, [r3]",) if "mbarrier" in opcode else ("[d0], [r1], r2",)


def replace(opcode):
    ordinal = "0, " if re.search("box_dim|global_dim|global_stride|element_stride", opcode) else ""
    value = "1" if re.search("elemtype|layout|swizzle|fill", opcode) else "d2" if opcode.endswith("64") else "r2"
    return (f"[{'r9' if 'shared' in opcode else 'd0'}], {ordinal}{value}",)


def matrix_load(opcode):
    count = int(re.search(r"\.x(\d)", opcode).group(1)) * (2 if "m16n16" in opcode else 1)
    return ([f"{group('r', n)}, [{'r9' if 'shared' in opcode else 'd0'}]" for n in {count, max(1, count // 2)}] if opcode.startswith("ld") else
            [f"[{'r9' if 'shared' in opcode else 'd0'}], {group('r', n)}" for n in {count, max(1, count // 2)}])


# By the start of an opcode: its operands, in every way that they might be meant.
OPERANDS = [
    (r"(mul|mad)\.wide", lambda o: ("x0, d0, d1",) if o.startswith("mul") else ("x0, d0, d1, x1",)),
    (r"mad[.\w]*\.f32", fixed("f0, f1, f2, f3")), (r"set\.", lambda o: (f"r0, {register(o.split('.')[-1], 1)}, {register(o.split('.')[-1], 2)}",)),
    (r"shfl\.", fixed("r0, r1, 1, 31")), (r"cvta\.", fixed("r0, r1")), (r"vote\.ballot", fixed("r0, p0")), (r"vote\.", fixed("p0, p1")),
    (r"cvt\.", conversion), (r"(add|sub|mul|fma|min|max)\.", binary),
    (r"(ld|ldu)\.", lambda o: (f"{vector(o)}, [{'r9' if '.shared' in o or '.local' in o or '.const' in o or '.param' in o else 'd0'}]",)),
    (r"st\.async\.", lambda o: [f"[d0], {r}" for r in (register(o.split(".")[-1]), "b0")]), (r"red\.async\.", lambda o: (f"[d0], {register(o.split('.')[-1])}",)),
    (r"st\.bulk\.\S*shared", fixed("[r0], d1, 0")), (r"st\.bulk", fixed("[d0], d1, 0")),
    (r"st\.", lambda o: (f"[{'r9' if '.shared' in o or '.local' in o or '.param' in o else 'd0'}], {vector(o)}",)),
    (r"redux\.", fixed("f0, f1, 0xffffffff")), (r"membar\.", fixed("")),
    (r"mbarrier\.\w+\.(expect_tx|noComplete)", fixed("d0, [d1], r2")), (r"mbarrier\.(arrive|arrive_drop)\.", fixed("d0, [d1]")), (r"mbarrier\.(test|try)_wait\.parity", fixed("p0, [d1], r2")), (r"mbarrier\.(test|try)", fixed("p0, [d1], d2")), (r"mbarrier\.", fixed("[d1], r2")),
    (r"wmma\.mma\.\S*m8n8k32", fixed(f"{group('r', 2)}, {{r10}}, {{r11}}, {group('r', 2, 20)}")),
    (r"wmma\.mma\.", fixed(f"{group('r', 8)}, {group('r', 2, 10)}, {group('r', 2, 20)}, {group('r', 8, 30)}")),
    (r"mma\.", product), (r"(ld|st)matrix", matrix_load), (r"cp\.reduce\.async\.bulk\.", bulk), (r"tensormap\.replace", replace),
    (r"clusterlaunchcontrol\.try_cancel\S*shared", fixed("[r0], [r1]")), (r"clusterlaunchcontrol\.try_cancel", fixed("[d0], [d1]")),
    (r"clusterlaunchcontrol\S*is_canceled", fixed("p0, x0")), (r"clusterlaunchcontrol\S*v4", fixed("{r0, r1, r2, r3}, x0")), (r"clusterlaunchcontrol", fixed("r0, x0")),
    (r"cp\.async\.bulk\.prefetch\.tensor", fixed("[d0, {r0, r1, r2, r3, r4}]")),
    (r"cp\.async\.bulk\.global", fixed("[d0], [r0], r1, h0")),
    (r"cp\.async\.bulk\.tensor\S*gather4", fixed("[r9], [d0, {r0, r1, r2, r3, r4}], [r8]")), (r"cp\.async\.bulk\.tensor\S*scatter4", fixed("[d0, {r0, r1, r2, r3, r4}], [r8]")),
    (r"cp\.async\.bulk\.tensor\S*im2col::w", fixed("[r9], [d0, {r0, r1, r2}], [r8], {h0, h1}")), (r"cp\.async\.bulk\.tensor", fixed("[r9], [d0, {r0, r1}], [r8]")),
    (r"tcgen05\.alloc", fixed("[r0], 32")), (r"tcgen05\.dealloc", fixed("r0, 32")), (r"tcgen05\.(relinquish|wait|fence)", fixed("")),
    (r"tcgen05\.(ld|st)", tensor_memory), (r"tcgen05\.cp", fixed("[r0], d0")), (r"tcgen05\.shift", fixed("[r0]")),
    (r"tcgen05\.mma\.sp", fixed("[r0], d0, d1, [r3], r2, p0")), (r"tcgen05\.mma\.ws\.sp", fixed("[r0], d0, d1, [r3], r2, p0")), (r"tcgen05\.mma.*block_scale", fixed("[r0], d0, d1, r2, [r3], [r4], p0")), (r"tcgen05\.mma", fixed("[r0], d0, d1, r2, p0")),
    (r"tcgen05\.commit.*multicast", fixed("[r0], h0")), (r"tcgen05\.commit", fixed("[r0]")),
]
# One instruction for each form with `.*`.
STANDS_FOR = {
    "set.*.ftz.*.": "set.eq.ftz.u32.", "ld.volatile.local.*": "ld.volatile.local.b32", "ld.volatile.const.*": "ld.volatile.const.b32", "st.volatile.local.*": "st.volatile.local.b32",
    "ld.global.*.v": "ld.global.v", "st.global.*.v": "st.global.v", 
    "ldmatrix.sync.aligned.m16n16.*.b16": "ldmatrix.sync.aligned.m16n16.x1.trans.b16", "stmatrix.sync.aligned.m16n8.*.b16": "stmatrix.sync.aligned.m16n8.x1.trans.b16",
    "wmma.mma.sync.aligned.*.s32.u4.s4.s32.*": "wmma.mma.sync.aligned.row.col.m8n8k32.s32.u4.s4.s32",
    "wmma.mma.sync.aligned.*.s32.s4.u4.s32.*": "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.u4.s32", "wmma.mma.sync.aligned.*.s32.": "wmma.mma.sync.aligned.row.col.m16n16k16.s32.",
    "ldmatrix.sync.aligned.m8n8.*.b8": "ldmatrix.sync.aligned.m8n8.x1.b8", "stmatrix.sync.aligned.m8n8.*.b8": "stmatrix.sync.aligned.m8n8.x1.b8",
    "ldmatrix.sync.aligned.m16n16.x4.*": "ldmatrix.sync.aligned.m16n16.x4.trans.b8", "cp.async.bulk.prefetch.tensor.*.tile::gather4": "cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4",
    "cp.async.bulk.global.shared::cta.bulk_group.*.cp_mask": "cp.async.bulk.global.shared::cta.bulk_group.cp_mask",
    "cp.async.bulk.tensor.*.tile::gather4.*": "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes",
    "cp.async.bulk.tensor.*.tile::scatter4.*": "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group",
    "cp.async.bulk.tensor.*.im2col::w.*": "cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes",
    "cp.async.bulk.tensor.*.im2col::w::128.*": "cp.async.bulk.tensor.3d.shared::cta.global.im2col::w::128.mbarrier::complete_tx::bytes",
    "cp.async.bulk.tensor.*.cta_group::": "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::",
    "tcgen05.alloc.*": "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", "tcgen05.dealloc.*": "tcgen05.dealloc.cta_group::1.sync.aligned.b32",
    "tcgen05.relinquish_alloc_permit.*": "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned", "tcgen05.ld.*": "tcgen05.ld.sync.aligned.32x32b.x1.b32",
    "tcgen05.st.*": "tcgen05.st.sync.aligned.32x32b.x1.b32", "tcgen05.wait::ld.*": "tcgen05.wait::ld.sync.aligned", "tcgen05.wait::st.*": "tcgen05.wait::st.sync.aligned",
    "tcgen05.cp.*": "tcgen05.cp.cta_group::1.128x256b", "tcgen05.shift.*": "tcgen05.shift.cta_group::1.down", "tcgen05.mma.*": "tcgen05.mma.cta_group::1.kind::f16",
    "tcgen05.mma.sp.*": "tcgen05.mma.sp.cta_group::1.kind::f16", "tcgen05.mma.ws.*": "tcgen05.mma.ws.cta_group::1.kind::f16", "tcgen05.mma.ws.sp.*": "tcgen05.mma.ws.sp.cta_group::1.kind::f16",
    "tcgen05.commit.*": "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64",
}


def concrete(text):
    """An opcode that the form stands for; nothing when none is known."""
    if ".*" not in text:
        return text
    if re.match(r"mbarrier\.[\w.]+\.\*$", text):
        return text[:-2] + ".b64"
    if ".L2::evict" in text:
        return text.replace(".*", "") + ".v8.b32"
    for start, opcode in STANDS_FOR.items():
        if text == start:
            return opcode
    for start, opcode in STANDS_FOR.items():
        if text.startswith(start) and not start.endswith("*"):
            return (opcode + text[len(start):]).replace(".*", "")
    return None


def instructions(opcode):
    for start, make in OPERANDS:
        if re.match(start, opcode):
            space = " " if make(opcode) else ""
            return [f"{opcode}{space}{operands};" for operands in make(opcode)]
    return []


class Assembler:
    def __init__(self, ptxas):
        self.ptxas = ptxas

    def messages(self, target, texts):
        """The error of each text, or "": many kernels in one module, again without those that fail."""
        out, left = {}, list(range(len(texts)))
        while left:
            lines, place = [".version 9.0", f".target {target}", ".address_size 64"], {}
            for i in left:
                extra = ".reg .b8 b<2>;\n" if re.search(r"\bb\d", texts[i].split(" ", 1)[-1]) else ""
                lines += [f".visible .entry k{i}()", "{"] + (REGISTERS + extra).strip().split("\n") + [texts[i], "ret;", "}"]
                place.update({len(lines) - 2: i, len(lines) - 1: i, len(lines): i})
            with tempfile.TemporaryDirectory() as folder:
                source = os.path.join(folder, "forms.ptx")
                with open(source, "w") as file:
                    file.write("\n".join(lines) + "\n")
                run = subprocess.run([self.ptxas, f"-arch={target}", "-O0", "--output-file", os.path.join(folder, "out"), source], capture_output=True, text=True, timeout=300)
            if run.returncode == 0:
                break
            said = run.stderr + run.stdout
            failed = {}
            for match in re.finditer(r"line (\d+); (?:error|fatal)\s*: (.*)", said):
                if int(match.group(1)) in place:
                    failed.setdefault(place[int(match.group(1))], match.group(2))
            if not failed and len(left) > 1:
                half = len(left) // 2
                for part in (left[:half], left[half:]):
                    for i, message in zip(part, self.messages(target, [texts[k] for k in part])):
                        out[i] = message
                break
            failed = failed or {left[0]: " ".join(said.split())[:300] or "ptxas ends with an error"}
            out.update(failed)
            left = [i for i in left if i not in failed]
        return [out.get(i, "") for i in range(len(texts))]


def main():
    ptxas = sys.argv[2] if sys.argv[1:2] == ["--ptxas"] else shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    if not os.path.exists(ptxas):
        print("there is no ptxas: nothing was checked")
        return 77  # ctest: skipped
    release = re.search(r"release (\d+)\.(\d+)", subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout)
    if release is None or release.groups() != ("13", "0"):
        print("this ptxas is not that of CUDA 13.0: nothing was checked")
        return 77
    assembler, wrong, unchecked = Assembler(ptxas), [], 0
    forms = [form for _, rows in ptx_coverage.read_forms() for _, group_ in rows for form in group_]
    counts = {}
    for reason in ("refused", "removed", "sm_100"):
        tries = []  # (form, text)
        for form in forms:
            if form.reason != reason:
                continue
            opcode = concrete(form.text)
            texts = instructions(opcode) if opcode else []
            unchecked += not texts
            counts[reason] = counts.get(reason, 0) + bool(texts)
            tries += [(form, text) for text in texts]
        said = {target: assembler.messages(target, [text for _, text in tries]) for target in (TARGETS if reason != "sm_100" else ("sm_90a",) + LATER)}
        by_form = {}
        for n, (form, text) in enumerate(tries):
            by_form.setdefault(form, []).append((text, {target: messages[n] for target, messages in said.items()}))
        for form, all_tries in by_form.items():
            if reason == "sm_100":
                if any(not answers["sm_90a"] for _, answers in all_tries):
                    wrong.append(f"{form.text}: sm_90a has it: {all_tries[0][0]}")
                elif not any(not answers[target] for _, answers in all_tries for target in LATER):
                    wrong.append(f"{form.text}: no later target takes `{all_tries[0][0]}`: {all_tries[0][1]['sm_100a']}")
                continue
            taken = [(text, target) for text, answers in all_tries for target, message in answers.items() if not message]
            if taken:
                wrong.append(f"{form.text}: {taken[0][1]} takes `{taken[0][0]}`")
            elif len(all_tries) == 1 and any(OPERANDS_WRONG.search(message) for message in all_tries[0][1].values()):
                wrong.append(f"{form.text}: the operands of `{all_tries[0][0]}` are wrong: {list(all_tries[0][1].values())}")
    print("\n".join(wrong))
    print(", ".join(f"{count} {reason}" for reason, count in counts.items()) + f": {len(wrong)} claims are wrong, {unchecked} forms have no instruction here")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
