#!/usr/bin/env python3
"""Writes docs/ptx-coverage.md: which instruction forms of PTX the cases of tests/cases/ptx prove.

    scripts/ptx_coverage.py            write the document
    scripts/ptx_coverage.py --check    fail when the committed document is not what it would write
    scripts/ptx_coverage.py --gaps     print the forms without a case
"""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CASES = os.path.join(ROOT, "tests/cases/ptx")
DOCUMENT = os.path.join(ROOT, "docs/ptx-coverage.md")
DEFAULT_SOURCE = "integers and exact fractions (exact.py), the ISA's text"
CLASSES = {"": "not yet", "sm_100": "needs sm_100 or later", "removed": "no target from sm_75 on with 64-bit addresses has it",
           "refused": "in the grammar, but ptxas of CUDA 13.0 does not take it",
           "undocumented": "the ISA does not give the values that it depends on", "texture": "textures and surfaces, which are not emulated",
           "multimem": "addresses of multicast objects over several GPUs, which are not emulated"}


# ---- forms ---------------------------------------------------------------------------------------------
def expand(pattern):
    """Every text that a pattern with {a,b} stands for."""
    open_at = pattern.find("{")
    if open_at < 0:
        return [pattern]
    depth, start, parts = 0, open_at + 1, []
    for i in range(open_at, len(pattern)):
        c = pattern[i]
        if c == "{":
            depth += 1
        elif c == "}":
            depth -= 1
        if (c == "," and depth == 1) or (c == "}" and depth == 0):
            parts.append(pattern[start:i])
            start = i + 1
        if depth == 0:
            return [pattern[:open_at] + middle + rest for part in parts for middle in expand(part) for rest in expand(pattern[i + 1:])]
    raise ValueError(f"{pattern}: a brace is not closed")


class Form:
    def __init__(self, text, tags, reason):
        self.text, self.tags, self.reason = text, tags, reason
        self.pattern = re.compile(re.escape(text).replace(r"\.\*", r"(?:\.[\w:]+)*")) if ".*" in text else None
        self.proof = None

    def matches(self, statement):
        if not all(tag in statement.tags for tag in self.tags):
            return False
        return self.pattern.fullmatch(statement.opcode) is not None if self.pattern else self.text == statement.opcode

    def show(self):
        return " ".join([f"`{self.text}`"] + [show_tag(tag) for tag in self.tags])


def show_tag(tag):
    names = {"pair": "with `d|p`", "sink": "to `_`", "!p": "with `!p`", "address": "of an address", "select": "with selected parts"}
    if tag in names:
        return names[tag]
    if tag[0] == "%":
        return f"from `{tag}`"
    key, value = tag.split("=")
    return {"n": f"({value} operands)", "pack": f"from {value} elements", "unpack": f"to {value} elements", "lanes": f"writing `.{value}`"}[key]


def read_forms():
    sections = []
    with open(os.path.join(CASES, "forms.txt")) as file:
        for number, line in enumerate(file, 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            if line.startswith("= "):
                sections.append((line[2:], []))
                continue
            text, _, reason = line.partition(" ! ")
            words = text.split()
            if reason.strip() not in CLASSES:
                raise ValueError(f"forms.txt:{number}: `{reason}` is no class")
            sections[-1][1].append((words[0], [Form(f, words[1:], reason.strip()) for f in expand(words[0])]))
    return sections


# ---- cases ---------------------------------------------------------------------------------------------
class Statement:
    def __init__(self, text, addresses):
        match = re.match(r"(?:@!?[%\w$]+\s+)?([a-z][\w]*(?:\.[\w:]+)*)\s*(.*)$", text, re.S)
        self.opcode, rest = match.group(1), match.group(2).strip()
        self.tags = set()
        if self.opcode.split(".")[0] == "call":
            rest = re.sub(r"\([^)]*\)\s*,?\s*", "", rest).rstrip(", ")
        operands = split_operands(rest)
        self.tags.add(f"n={len(operands)}")
        if not operands:
            return
        first = operands[0]
        if "|" in first:
            self.tags.add("pair")
        if first == "_":
            self.tags.add("sink")
        if any(o.startswith("!") for o in operands[1:]):
            self.tags.add("!p")
        if self.opcode.startswith("mov") and len(operands) == 2:
            source = operands[1]
            if source.startswith("{"):
                self.tags.add(f"pack={len(split_operands(source[1:-1]))}")
            if first.startswith("{"):
                self.tags.add(f"unpack={len(split_operands(first[1:-1]))}")
            if source.startswith("%"):
                name = source.split(".")[0]
                self.tags.add(re.sub(r"(?<=%envreg)\d+|(?<=%pm)\d+(_64)?|(?<=%reserved_smem_offset)_.*", "", name))
            if re.split(r"\s*[+-]", source)[0] in addresses:
                self.tags.add("address")
        if self.opcode[0] == "v":
            if "." in first:
                self.tags.add("lanes=" + first.split(".")[1])
            if any(re.search(r"\w\.[bh]\d", o) for o in operands[1:]):
                self.tags.add("select")


def split_operands(text):
    operands, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += c in "{[("
        depth -= c in "}])"
        if c == "," and depth == 0:
            operands.append(text[start:i].strip())
            start = i + 1
    if text.strip():
        operands.append(text[start:].strip())
    return operands


def statements(body, addresses):
    """The instructions of a body: what is left of its pieces after labels, braces and directives."""
    # A brace opens a scope only where a statement may begin.
    for piece in re.split(r";|\n", re.sub(r"//.*", "", body)):
        piece = piece.strip()
        while True:
            shorter = re.sub(r"^(?:[\w$]+:(?!:)\s*|[{}]\s*)", "", piece)
            if shorter == piece:
                break
            piece = shorter
        if piece and piece[0] != "." and not re.fullmatch(r"[{}\s]*", piece):
            yield Statement(piece, addresses)


class Case:
    def __init__(self, name, lines):
        self.name = name
        self.source = DEFAULT_SOURCE
        body, functions, addresses = [], [], set()
        fault = False
        for line in lines:
            if not line.startswith("// "):
                body.append(line)
            elif line.startswith("// from "):
                self.source = line[8:].strip()
            elif line.startswith("// fault "):
                fault = True
            elif line.startswith("// module "):
                text = line[10:]
                function = re.match(r"(?:\.visible )?\.func.*?(\w+)\s*\([^{]*\)\s*\{(.*)\}\s*$", text) or re.match(
                    r"(?:\.visible )?\.func\s*(?:\([^)]*\))?\s*(\w+)[^{]*\{(.*)\}\s*$", text)
                if function:
                    addresses.add(function.group(1))
                    functions.append(function.group(2))
                else:
                    addresses.update(re.findall(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=.*)?;", text))
        for text in body:
            addresses.update(re.findall(r"\.(?:local|param|shared)\s+(?:\.align \d+\s+)?\.\w+\s+(\w+)", text))
        self.statements = list(statements("\n".join(body), addresses))
        for function in functions:
            self.statements += statements(function, addresses)
        self.length = len(self.statements)
        if fault:  # only its last instruction is sure to have run, and to have done what the case says
            self.statements = self.statements[:1] if self.length == 1 else []


def read_cases():
    cases = []
    for path in sorted(glob.glob(os.path.join(CASES, "*.case")) + glob.glob(os.path.join(CASES, "*.cases"))):
        stem = os.path.splitext(os.path.basename(path))[0]
        with open(path) as file:
            common, own = [], []
            for line in file.read().splitlines():
                if line.startswith("//// "):
                    own.append((line[5:].split(":")[0], []))
                else:
                    (own[-1][1] if own else common).append(line)
        for name, lines in own or [(stem, [])]:
            cases.append(Case(name, common + lines))
    return cases


def read_marked():
    """Other tests that compare values and say so: `// proves: FORM`, or `// proves: asm` for all inline assembly of the file."""
    cases = []
    for path in sorted(glob.glob(os.path.join(ROOT, "tests/cases/emulator/*.cu")) + glob.glob(os.path.join(ROOT, "tests/unit/emulator*/*.cc"))):
        with open(path) as file:
            text = file.read()
        marks = re.findall(r"^\s*// proves: (.*)$", text, re.M)
        if not marks:
            continue
        case = Case(os.path.basename(path), [])
        case.source = "a comparison within the test itself, from the ISA's text"
        for mark in marks:
            if mark.strip() != "asm":
                case.statements.append(Statement(mark.strip(), set()))
                continue
            code = re.sub(r"//.*", "", text)
            for literal in re.findall(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', code):
                inside = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', literal)).replace("\\n", "\n").replace("\\t", " ")
                for piece in inside.split(";"):
                    if re.match(r"\s*(?:[{}]\s*)*(?:@!?[%\w]+\s+)?[a-z]\w*(?:\.[\w:]+)+", piece):
                        case.statements += statements(piece, set())
        case.length = 1000 + len(case.statements)
        cases.append(case)
    return cases


def prove(sections, cases):
    by_text, wild = {}, []
    for _, rows in sections:
        for _, forms in rows:
            for form in forms:
                if form.pattern:
                    wild.append(form)
                else:
                    by_text.setdefault(form.text, []).append(form)
    unknown, matched = {}, {}
    for case in sorted(cases, key=lambda c: (c.length, c.name)):
        marked = "." in case.name
        for statement in case.statements:
            key = (statement.opcode, frozenset(statement.tags))
            if key in matched:
                continue  # an earlier, shorter case proves the same
            matched[key] = [form for form in by_text.get(statement.opcode, []) + wild if form.matches(statement)]
            for form in matched[key]:
                form.proof = form.proof or case
            if not matched[key] and not marked:
                unknown.setdefault(statement.opcode, case.name)
    return unknown


# ---- document ------------------------------------------------------------------------------------------
def document(sections, cases):
    forms = [form for _, rows in sections for _, group in rows for form in group]
    proven = [form for form in forms if form.proof]
    out = ["# PTX instruction forms", "",
           "Written by `make coverage-doc` from `tests/cases/ptx`; edit the cases or `forms.txt` there, not this page.", "",
           f"Of {len(forms)} instruction forms of PTX ISA 9.0, {len(proven)} are proven by one of {len(cases)} cases: small programs whose",
           "expected outputs were worked out without the emulator. A case proves the forms that it executes (its test fails when",
           "one of its instructions is not reached); where several do, the shortest is named. A form is an opcode with its",
           "modifiers and types; `.*` stands for any further modifiers: what changes no result (cache hints, eviction, prefetch",
           "sizes, scopes) is proven against each space, not against each type. What orders (fences, barriers, mbarriers, their",
           "scopes) is proven by a message that arrives, and by the race that is reported where the form is weaker or left out.",
           "A form without a case may still work; the emulator refuses what it does not know as `unsupported-instruction` and never guesses.", "",
           "| forms | number |", "|---|---|", f"| all | {len(forms)} |", f"| proven | {len(proven)} |"]
    for reason, text in CLASSES.items():
        out.append(f"| without a case: {text} | {sum(1 for f in forms if not f.proof and f.reason == reason)} |")
    out += ["", "| section | forms | proven | not yet | sm_100 | removed | refused | undocumented | texture | multimem |", "|---|---|---|---|---|---|---|---|---|---|"]
    for title, rows in sections:
        group = [form for _, forms_of_row in rows for form in forms_of_row]
        missing = [sum(1 for f in group if not f.proof and f.reason == r) for r in CLASSES]
        out.append(f"| {title} | {len(group)} | {sum(1 for f in group if f.proof)} | " + " | ".join(str(m) for m in missing) + " |")
    sources = {}
    for case in cases:
        sources[case.source] = sources.get(case.source, 0) + 1
    out += ["", "| expected outputs come from | cases |", "|---|---|"]
    out += [f"| {source} | {count} |" for source, count in sorted(sources.items(), key=lambda item: (-item[1], item[0]))]
    out += ["", "## Gaps", ""]
    for reason, text in CLASSES.items():
        missing = [(row, [f for f in group if not f.proof and f.reason == reason]) for _, rows in sections for row, group in rows]
        missing = [(row, group) for row, group in missing if group]
        out += [f"### {text[0].upper() + text[1:]}", ""]
        out += ["None.", ""] if not missing else [", ".join(f.show() for f in group) + "\n" for _, group in missing]
    out += ["## Proven forms", ""]
    for title, rows in sections:
        group = [form for _, forms_of_row in rows for form in forms_of_row if form.proof]
        if not group:
            continue
        out += [f"### {title}", "", "| form | case |", "|---|---|"]
        # `|` would end a cell.
        out += [f"| {form.show().replace('|', chr(92) + '|')} | {form.proof.name} |" for form in group]
        out.append("")
    return "\n".join(out).rstrip("\n") + "\n"


def main():
    sections, cases = read_forms(), read_cases() + read_marked()
    unknown = prove(sections, cases)
    if "--gaps" in sys.argv:
        for _, rows in sections:
            for row, group in rows:
                for form in group:
                    if not form.proof and not form.reason:
                        print(form.show())
        return 0
    for opcode, name in sorted(unknown.items()):
        print(f"{name}: `{opcode}` is no form of tests/cases/ptx/forms.txt", file=sys.stderr)
    text = document(sections, cases)
    if "--check" in sys.argv:
        with open(DOCUMENT) as file:
            if unknown or file.read() != text:
                print("docs/ptx-coverage.md is stale: run `make coverage-doc`", file=sys.stderr)
                return 1
        return 0
    with open(DOCUMENT, "w") as file:
        file.write(text)
    forms = [f for _, rows in sections for _, g in rows for f in g]
    print(f"{sum(1 for f in forms if f.proof)} of {len(forms)} forms are proven")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
