"""Writes case files; README.md describes them."""
import os

HERE = os.path.dirname(os.path.abspath(__file__))
written = set()


def show(x, width):
    return x if isinstance(x, str) else f"0x{x:0{width // 4}x}"


def reg_width(t):
    if t == "pred":
        return 4
    if t in ("f16", "bf16"):
        return 16
    digits = "".join(c for c in t if c.isdigit())
    return int(digits)


def case(name, text, body, ins, outs, target=None, extra=()):
    """ins, outs: lists of (register, type, values[, tolerance])."""
    assert name not in written, name
    written.add(name)
    lines = [f"// Written by generate.py. {text}"]
    if target:
        lines.append(f"// target {target}")
    lines += [f"// {e}" for e in extra]
    for kind, group in (("in", ins), ("out", outs)):
        for entry in group:
            register, t, values = entry[:3]
            tolerance = f" {entry[3]}" if len(entry) > 3 else ""
            w = reg_width(t)
            lines.append(f"// {kind} {register} {t}{tolerance}: " + " ".join(show(v, w) for v in values))
    lines.append(body.strip())
    with open(os.path.join(HERE, name + ".case"), "w") as f:
        f.write("\n".join(lines) + "\n")


def two(name, op, t_in, t_out, f, a, b, text, target=None):
    case(name, text, f"{op} d, a, b;", [("a", t_in, a), ("b", t_in, b)],
         [("d", t_out, [f(x, y) for x, y in zip(a, b)])], target)


def slug(op):
    return op.replace(".", "_").replace("::", "_").replace("%", "")


def header(kind, group):
    lines = []
    for entry in group:
        register, t, values = entry[:3]
        tolerance = f" {entry[3]}" if len(entry) > 3 else ""
        lines.append(f"// {kind} {register} {t}{tolerance}: " + " ".join(show(v, reg_width(t)) for v in values))
    return lines


class Family:
    """A .cases file: cases that share inputs, target and declarations. Closes itself at the end of a `with`."""

    def __init__(self, name, source, ins=(), extra=(), target=None):
        assert name not in written, name
        written.add(name)
        self.name, self.lines, self.names = name, [f"// Written by generate.py.", f"// from {source}"], set()
        if target:
            self.lines.append(f"// target {target}")
        self.lines += [f"// {e}" for e in extra] + header("in", ins)

    def add(self, name, text, body, outs, ins=(), extra=(), target=None):
        name = slug(name)
        assert name not in self.names, name
        self.names.add(name)
        self.lines.append(f"//// {name}: {text}")
        if target:
            self.lines.append(f"// target {target}")
        self.lines += [f"// {e}" for e in extra] + header("in", ins) + header("out", outs)
        self.lines.append(body.strip())

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            with open(os.path.join(HERE, self.name + ".cases"), "w") as f:
                f.write("\n".join(self.lines) + "\n")
