#!/usr/bin/env python3
"""Gives every case of tests/cases/ptx to ptxas: each must be PTX that NVIDIA's assembler takes for the case's target.

    scripts/ptx_cases_ptxas.py [--ptxas PROGRAM] [FILE ...]

Without files: all. Cases of one target become the kernels of one module, so that ptxas starts only once for many;
cases with declarations outside the kernel have a module of their own scope of names by a suffix.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CASES = os.path.join(ROOT, "tests/cases/ptx")
PER_MODULE = 150


class Case:
    def __init__(self, name, lines):
        self.name, self.target, self.faults = name, "sm_80", False
        self.module, self.registers, self.ins, self.outs, self.buffers, self.maps, self.body = [], [], [], [], [], [], []
        for line in lines:
            if not line.startswith("// "):
                self.body.append(line)
                continue
            words = line[3:].split()
            kind = words[0]
            if kind == "target":
                self.target = words[1]
            elif kind == "fault":
                self.faults = True
            elif kind == "module":
                self.module.append(line[10:])
            elif kind == "reg":
                self.registers.append(line[3:])
            elif kind == "map":
                self.maps.append(words[1].rstrip(":"))
            elif kind in ("in", "out", "mem") and ":" in line:
                {"in": self.ins, "out": self.outs, "mem": self.buffers}[kind].append((words[1], words[2].rstrip(":")))

    def kernel(self, number):
        """The same kernel that tests/unit/emulator_ptx/case_file.cc makes, with names of its own."""
        def bits(t):
            return 32 if t == "pred" else 16 if t == "bf16" else int("".join(c for c in t if c.isdigit()))

        parameters, declare, load, store = [], ".reg .b64 addr_, tid64_, at_;\n.reg .b32 tid_, word_;\n", "mov.u32 tid_, %tid.x;\n", ""
        for name in self.maps:
            parameters.append(f".align 64 .b8 k_{name}[128]")
            declare += f".reg .b64 {name};\n"
            load += f"mov.b64 at_, k_{name};\ncvta.param.u64 {name}, at_;\n"
        for name, t in self.ins:
            parameters.append(f".u64 k_{name}")
            declare += f".reg .{'pred' if t == 'pred' else 'b' + str(bits(t))} {name};\n"
            load += f"ld.param.u64 at_, [k_{name}];\n"
            load += f"ld.global.b32 word_, [at_];\nsetp.ne.u32 {name}, word_, 0;\n" if t == "pred" else f"ld.global.b{bits(t)} {name}, [at_];\n"
        for name, _ in self.buffers:
            parameters.append(f".u64 k_{name}")
            declare += f".reg .b64 {name};\n"
            load += f"ld.param.u64 {name}, [k_{name}];\n"
        for name, t in self.outs:
            parameters.append(f".u64 k_out_{name}")
            if name not in [n for n, _ in self.ins]:
                declare += f".reg .{'pred' if t == 'pred' else 'b' + str(bits(t))} {name};\n"
            store += f"ld.param.u64 at_, [k_out_{name}];\n"
            store += f"selp.u32 word_, 1, 0, {name};\nst.global.b32 [at_], word_;\n" if t == "pred" else f"st.global.b{bits(t)} [at_], {name};\n"
        declare += "".join(f".{line}\n" for line in self.registers)
        module, body = "\n".join(self.module), "\n".join(self.body)
        for name in sorted(set(re.findall(r"\.func\s*(?:\([^)]*\))?\s*(\w+)|(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=[^;]*)?;", re.sub(r"\{.*\}", "{}", module)))):
            name = name[0] or name[1]
            module, body = (re.sub(rf"(?<![\w.%$]){name}(?![\w.])", f"{name}_{number}_", text) for text in (module, body))
        head = ", ".join(f".param {p}" for p in parameters)
        return f"{module}\n.visible .entry case_{number}({head})\n{{\n{declare}{load}{body}\n{store}ret;\n}}\n"


def read(paths):
    for path in paths:
        with open(path) as file:
            common, own = [], []
            for line in file.read().splitlines():
                if line.startswith("//// "):
                    own.append((line[5:].split(":")[0], []))
                else:
                    (own[-1][1] if own else common).append(line)
        for name, lines in own or [(os.path.splitext(os.path.basename(path))[0], [])]:
            yield Case(name, common + lines)


def assemble(ptxas, target, cases):
    """Messages about these cases; a module with errors is cut in two until the cases are found."""
    text, number_of_line, place = f".version 9.0\n.target {target}\n.address_size 64\n", 3, []
    for number, case in enumerate(cases):
        kernel = case.kernel(number)
        lines = kernel.count("\n")
        place.append((number_of_line + 1, number_of_line + lines, case, kernel))
        number_of_line += lines
        text += kernel
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "cases.ptx")
        with open(source, "w") as file:
            file.write(text)
        run = subprocess.run([ptxas, f"-arch={target}", "-O0", "--output-file", os.path.join(folder, "out"), source],
                             capture_output=True, text=True, timeout=300)
    if run.returncode == 0:
        return []
    found = {}
    for match in re.finditer(r"line (\d+); error\s*: (.*)", run.stderr + run.stdout):
        line = int(match.group(1))
        for first, last, case, kernel in place:
            if first <= line <= last:
                found.setdefault(case.name, f"{case.name}: {match.group(2)}: {kernel.splitlines()[line - first]}")
    if not found and len(cases) > 1:
        half = len(cases) // 2
        return assemble(ptxas, target, cases[:half]) + assemble(ptxas, target, cases[half:])
    rest = [case for case in cases if case.name not in found]
    # What must end with a fault may be wrong enough for ptxas to see it.
    may_fail = {case.name for case in cases if case.faults}
    messages = [message for name, message in found.items() if name not in may_fail]
    if not found:
        messages = [f"{cases[0].name}: {(run.stderr + run.stdout).strip()[:400]}"]
    return messages + (assemble(ptxas, target, rest) if rest and found else [])


def main():
    arguments = sys.argv[1:]
    ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    if arguments[:1] == ["--ptxas"]:
        ptxas, arguments = arguments[1], arguments[2:]
    if not os.path.exists(ptxas):
        print("there is no ptxas: nothing was checked")
        return 77  # ctest: skipped
    release = re.search(r"release (\d+)\.", subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout)
    if release is None or int(release.group(1)) < 13:
        print("this ptxas is older than PTX ISA 9.0: nothing was checked")
        return 77
    paths = arguments or sorted(glob.glob(os.path.join(CASES, "*.case")) + glob.glob(os.path.join(CASES, "*.cases")))
    by_target = {}
    for case in read(paths):
        by_target.setdefault(case.target, []).append(case)
    messages, count = [], 0
    for target, cases in sorted(by_target.items()):
        for start in range(0, len(cases), PER_MODULE):
            messages += assemble(ptxas, target, cases[start:start + PER_MODULE])
        count += len(cases)
    print("\n".join(messages))
    print(f"{count - len(messages)} of {count} cases are taken by ptxas")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
