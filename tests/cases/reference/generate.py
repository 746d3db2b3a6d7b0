#!/usr/bin/env python3
"""Writes the tables of this folder: small inputs and what each op's definition gives for them.

    python3 tests/cases/reference/generate.py        (needs mpmath; run in the project's root)

Everything is computed from the definitions, element by element, in exact rationals or with 50 digits of mpmath,
and shares no code with the library under test. Inputs are dyadic fractions or integers, so that they are the same
number in every type used. The tables themselves are checked in; the tests read them and do not run this file.
"""
import itertools
import os
import random
from fractions import Fraction as F

import mpmath as mp

mp.mp.dps = 50
HERE = os.path.dirname(os.path.abspath(__file__))
rng = random.Random(20240611)


class T:
    """A tensor: shape and flat list of exact numbers."""

    def __init__(self, shape, values, dtype="f32"):
        self.shape, self.v, self.dtype = list(shape), list(values), dtype
        n = 1
        for e in shape:
            n *= e
        assert n == len(self.v), (shape, len(self.v))

    def at(self, *i):
        k = 0
        for e, x in zip(self.shape, i):
            assert 0 <= x < e
            k = k * e + x
        return self.v[k]


def size(shape):
    n = 1
    for e in shape:
        n *= e
    return n


def draw(shape, lo=-12, hi=12, den=4, dtype="f32"):
    return T(shape, [F(rng.randint(lo, hi), den) for _ in range(size(shape))], dtype)


def ints(shape, lo, hi, dtype="i32"):
    return T(shape, [rng.randint(lo, hi) for _ in range(size(shape))], dtype)


def build(shape, f, dtype="f32"):
    return T(shape, [f(*i) for i in itertools.product(*[range(e) for e in shape])], dtype)


def m(x):
    return mp.mpf(x.numerator) / mp.mpf(x.denominator) if isinstance(x, F) else mp.mpf(x)


def text(x):
    if isinstance(x, int):
        return str(x)
    if isinstance(x, str):
        return x
    if isinstance(x, F):
        return repr(float(x)) if F(float(x)) == x else mp.nstr(m(x), 20)
    return mp.nstr(x, 20)


def flow(t):
    return "{dtype: %s, shape: %s, values: [%s]}" % (t.dtype, t.shape, ", ".join(text(x) for x in t.v))


tables = {}


def case(table, op, params, inputs, outputs, note=None):
    lines = ["- op: %s" % op]
    if note:
        lines.append("  note: %s" % note)
    if params:
        lines.append("  params: {%s}" % ", ".join("%s: %s" % kv for kv in params.items()))
    lines.append("  inputs:")
    lines += ["    - " + flow(t) for t in inputs]
    lines.append("  outputs:")
    lines += ["    - " + flow(t) for t in outputs]
    tables.setdefault(table, []).append("\n".join(lines))


# ---- elementwise -------------------------------------------------------------------------------------------
a, b = draw([2, 3]), draw([3])
b.v = [F(1, 2), F(-3), F(5, 4)]
OPS = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y,
       "maximum": max, "minimum": min}
for name, f in OPS.items():
    case("elementwise", name, {}, [a, b], [build([2, 3], lambda i, j: f(a.at(i, j), b.at(j)))])
c, d = ints([2, 1], -100, 100), ints([1, 3], -100, 100)
for name in ("add", "sub", "mul", "maximum", "minimum"):
    case("elementwise", name, {}, [c, d], [build([2, 3], lambda i, j: OPS[name](c.at(i, 0), d.at(0, j)), "i32")])
e = T([2], [100, -128], "i8")
case("elementwise", "add", {}, [e, e], [T([2], [200 - 256, 0], "i8")], "two's complement wraps")
x, y = draw([5]), draw([5])
case("elementwise", "axpy", {"alpha": 2.5}, [x, y], [build([5], lambda i: F(5, 2) * x.at(i) + y.at(i))])
x = T([7], [F(-3), F(-1, 2), F(0), F(1, 8), F(1), F(9, 4), F(-11)])
ONE = {
    "relu": lambda v: max(v, F(0)), "abs": abs, "neg": lambda v: -v, "square": lambda v: v * v,
    "sigmoid": lambda v: 1 / (1 + mp.exp(-m(v))), "silu": lambda v: m(v) / (1 + mp.exp(-m(v))),
    "tanh": lambda v: mp.tanh(m(v)), "exp": lambda v: mp.exp(m(v)),
    "gelu": lambda v: m(v) * mp.ncdf(m(v)),
}
for name, f in ONE.items():
    case("elementwise", name, {}, [x], [build([7], lambda i: f(x.at(i)))])
case("elementwise", "gelu", {"approximate": "tanh"}, [x],
     [build([7], lambda i: m(x.at(i)) / 2 * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (m(x.at(i)) + mp.mpf("0.044715") * m(x.at(i)) ** 3))))])
r = T([4], [F(4), F(2), F(1, 16), F(100)])
case("elementwise", "rsqrt", {}, [r], [build([4], lambda i: 1 / mp.sqrt(m(r.at(i))))])
g, u = draw([2, 4]), draw([2, 4])
case("elementwise", "swiglu", {}, [g, u],
     [build([2, 4], lambda i, j: m(g.at(i, j)) / (1 + mp.exp(-m(g.at(i, j)))) * m(u.at(i, j)))])

# ---- reductions --------------------------------------------------------------------------------------------
x = draw([2, 3, 4])


def over(axes, f, keep=False, t=None):
    t = t or x
    outer = [d for d in range(len(t.shape)) if d not in axes]
    out = []
    for o in itertools.product(*[range(t.shape[d]) for d in outer]):
        row = []
        for k in itertools.product(*[range(t.shape[d]) for d in axes]):
            i = [0] * len(t.shape)
            for d, v in zip(outer, o):
                i[d] = v
            for d, v in zip(axes, k):
                i[d] = v
            row.append(t.at(*i))
        out.append(f(row))
    shape = [1 if d in axes else t.shape[d] for d in range(len(t.shape))] if keep else [t.shape[d] for d in outer]
    return shape, out


def product(row):
    p = F(1)
    for v in row:
        p *= v
    return p


def lse(row):
    return mp.log(mp.fsum(mp.exp(m(v)) for v in row))


RED = {"sum": sum, "mean": lambda r: sum(r) / len(r), "max": max, "min": min, "prod": product, "logsumexp": lse}
for name, f in RED.items():
    for param, axes in ((1, [1]), (-1, [2]), ("[0, 2]", [0, 2]), ("all", [0, 1, 2])):
        shape, out = over(axes, f)
        case("reductions", name, {"axis": param}, [x], [T(shape, out)])
    shape, out = over([1], f, True)
    case("reductions", name, {"axis": 1, "keepdims": "true"}, [x], [T(shape, out)])
case("reductions", "sum", {"axis": 1}, [T([2, 0], [])], [T([2], [F(0), F(0)])], "an empty sum is 0")
case("reductions", "prod", {"axis": 1}, [T([2, 0], [])], [T([2], [F(1), F(1)])], "an empty product is 1")
case("reductions", "mean", {"axis": 1}, [T([1, 0], [])], [T([1], [".nan"])], "an empty mean is 0/0")
case("reductions", "logsumexp", {"axis": 1}, [T([1, 0], [])], [T([1], ["-.inf"])], "log 0")
big = T([3], [2000000000, 2000000000, 5], "i32")
case("reductions", "sum", {"axis": 0}, [big], [T([], [4000000005], "i64")], "exact in 64 bits")
case("reductions", "sum", {"axis": 0}, [big], [T([], [4000000005 - 2 ** 32], "i32")], "wraps in 32 bits")
n = T([4], [F(1), ".nan", F(3), F(-2)])
case("reductions", "max", {"axis": 0}, [n], [T([], [".nan"])], "NaN wins")
case("reductions", "min", {"axis": 0}, [n], [T([], [".nan"])], "NaN wins")
case("reductions", "argmax", {"axis": 0}, [n], [T([], [1], "i64")], "NaN is the largest")
case("reductions", "argmin", {"axis": 0}, [n], [T([], [1], "i64")], "and the smallest")
t = T([3, 4], [F(1), F(5), F(5), F(2), F(-1), F(-1), F(-3), F(-3), F(0), F(0), F(0), F(0)])
case("reductions", "argmax", {"axis": 1}, [t], [T([3], [1, 0, 0], "i32")], "the first of equals")
case("reductions", "argmin", {"axis": 1}, [t], [T([3], [0, 2, 0], "i32")], "the first of equals")
case("reductions", "argmax", {"axis": 0}, [t], [T([4], [0, 0, 0, 0], "i64")])
case("reductions", "topk", {"axis": 1, "k": 3}, [t],
     [T([3, 3], [F(5), F(5), F(2), F(-1), F(-1), F(-3), F(0), F(0), F(0)]),
      T([3, 3], [1, 2, 3, 0, 1, 2, 0, 1, 2], "i64")], "descending, the first of equals first")
case("reductions", "sort", {"axis": 1}, [t],
     [T([3, 4], [F(1), F(2), F(5), F(5), F(-3), F(-3), F(-1), F(-1), F(0), F(0), F(0), F(0)]),
      T([3, 4], [0, 3, 1, 2, 2, 3, 0, 1, 0, 1, 2, 3], "i64")], "stable")
case("reductions", "sort", {"axis": 1, "descending": "true"}, [t],
     [T([3, 4], [F(5), F(5), F(2), F(1), F(-1), F(-1), F(-3), F(-3), F(0), F(0), F(0), F(0)]),
      T([3, 4], [1, 2, 3, 0, 0, 1, 2, 3, 0, 1, 2, 3], "i64")], "stable")
case("reductions", "sort", {"axis": 0}, [n], [T([4], [F(-2), F(1), F(3), ".nan"])], "NaN is the largest")

# ---- softmax family ----------------------------------------------------------------------------------------
s = draw([2, 5])
s.v[3] = F(90)


def soft(row):
    e = [mp.exp(m(v)) for v in row]
    return [v / mp.fsum(e) for v in e]


rows = [[s.at(i, j) for j in range(5)] for i in range(2)]
case("softmax", "softmax", {"axis": 1}, [s], [T([2, 5], sum((soft(r) for r in rows), []))])
case("softmax", "log_softmax", {"axis": -1}, [s], [T([2, 5], sum(([m(v) - lse(r) for v in r] for r in rows), []))])
cols = [[s.at(i, j) for i in range(2)] for j in range(5)]
sc = [soft(c) for c in cols]
case("softmax", "softmax", {"axis": 0}, [s], [build([2, 5], lambda i, j: sc[j][i])])
target = T([2], [3, 0], "i64")
losses = [lse(rows[i]) - m(rows[i][target.v[i]]) for i in range(2)]
case("softmax", "cross_entropy", {"axis": 1}, [s, target], [T([2], losses)])
case("softmax", "cross_entropy", {"axis": 1, "reduction": "mean"}, [s, target], [T([], [mp.fsum(losses) / 2])])
huge = T([1, 3], [F(30000), F(29999), F(-30000)])
case("softmax", "softmax", {"axis": 1}, [huge], [T([1, 3], soft(huge.v))])
case("softmax", "logsumexp", {"axis": 1}, [huge], [T([1], [lse(huge.v)])])
case("softmax", "logsumexp", {"axis": 0}, [T([2], ["-.inf", "-.inf"])], [T([], ["-.inf"])])
case("softmax", "softmax", {"axis": 0}, [T([3], [F(1), "-.inf", F(1)])], [T([3], [F(1, 2), F(0), F(1, 2)])])

# ---- scan --------------------------------------------------------------------------------------------------
v = draw([2, 4])


def scan(row, exclusive, reverse):
    out = []
    for k in range(len(row)):
        part = row[k:] if reverse else row[: k + 1]
        if exclusive:
            part = row[k + 1:] if reverse else row[:k]
        out.append(sum(part, F(0)))
    return out


for ex in (False, True):
    for rev in (False, True):
        p = {"axis": 1, "exclusive": str(ex).lower(), "reverse": str(rev).lower()}
        case("scan", "cumsum", p, [v], [T([2, 4], sum((scan([v.at(i, j) for j in range(4)], ex, rev) for i in range(2)), []))])
case("scan", "cumsum", {"axis": 0}, [v], [build([2, 4], lambda i, j: sum(v.at(k, j) for k in range(i + 1)))])
w = ints([5], -9, 9)
case("scan", "cumsum", {"axis": 0}, [w], [T([5], [sum(w.v[: i + 1]) for i in range(5)], "i32")])

# ---- normalisation -----------------------------------------------------------------------------------------
x = draw([2, 6])
gamma, beta = draw([6]), draw([6])
EPS = mp.mpf("1e-5")


def norm(row, eps=EPS):
    mu = m(sum(row)) / len(row)
    var = mp.fsum((m(v) - mu) ** 2 for v in row) / len(row)
    return [(m(v) - mu) / mp.sqrt(var + eps) for v in row]


rows = [[x.at(i, j) for j in range(6)] for i in range(2)]
case("normalisation", "layernorm", {"axis": 1, "eps": "1.0e-5"}, [x, gamma, beta],
     [build([2, 6], lambda i, j: norm(rows[i])[j] * m(gamma.at(j)) + m(beta.at(j)))])
case("normalisation", "layernorm", {"axis": -1}, [x], [build([2, 6], lambda i, j: norm(rows[i])[j])])
case("normalisation", "layernorm", {"axis": "[0, 1]", "eps": 0.5}, [x],
     [T([2, 6], norm(x.v, mp.mpf(0.5)))])


def rms(row, eps):
    s = mp.sqrt(mp.fsum(m(v) ** 2 for v in row) / len(row) + eps)
    return [m(v) / s for v in row]


case("normalisation", "rmsnorm", {"axis": 1, "eps": 0.25}, [x, gamma],
     [build([2, 6], lambda i, j: rms(rows[i], mp.mpf(0.25))[j] * m(gamma.at(j)))])
res = draw([2, 6])
both = [[x.at(i, j) + res.at(i, j) for j in range(6)] for i in range(2)]
case("normalisation", "add_rmsnorm", {"axis": 1, "eps": 0.25}, [x, res, gamma],
     [build([2, 6], lambda i, j: rms(both[i], mp.mpf(0.25))[j] * m(gamma.at(j))), build([2, 6], lambda i, j: both[i][j])])
x = draw([1, 4, 3])
gamma, beta = draw([4]), draw([4])
halves = [norm(x.v[:6]), norm(x.v[6:])]
case("normalisation", "groupnorm", {"groups": 2}, [x, gamma, beta],
     [build([1, 4, 3], lambda n_, ch, l: halves[ch // 2][(ch % 2) * 3 + l] * m(gamma.at(ch)) + m(beta.at(ch)))])

# ---- movement and indexing ---------------------------------------------------------------------------------
x = draw([2, 3, 4])
case("movement", "transpose", {"perm": "[2, 0, 1]"}, [x], [build([4, 2, 3], lambda i, j, k: x.at(j, k, i))])
y = ints([2, 3], -100, 100, "i8")
case("movement", "transpose", {}, [y], [build([3, 2], lambda i, j: y.at(j, i), "i8")])
p, q, r = draw([2, 1]), draw([2, 3]), draw([2, 2])
case("movement", "concat", {"axis": 1}, [p, q, r],
     [build([2, 6], lambda i, j: p.at(i, 0) if j < 1 else q.at(i, j - 1) if j < 4 else r.at(i, j - 4))])
ix = T([2, 2], [2, 0, 1, 1], "i64")
case("movement", "gather", {"axis": 1}, [q, ix], [build([2, 2], lambda i, j: q.at(i, ix.at(i, j)))])
ix0 = T([1, 3], [1, 0, 1], "i32")
case("movement", "gather", {"axis": 0}, [q, ix0], [build([1, 3], lambda i, j: q.at(ix0.at(i, j), j))])
src = draw([2, 2])
acc = T([2, 3], list(q.v))
for i in range(2):
    for j in range(2):
        acc.v[i * 3 + ix.at(i, j)] += src.at(i, j)
case("movement", "scatter_add", {"axis": 1}, [q, ix, src], [acc])
table, rows_ = draw([4, 3]), T([2, 2], [3, 0, 0, 1], "i64")
case("movement", "embedding", {}, [table, rows_], [build([2, 2, 3], lambda i, j, k: table.at(rows_.at(i, j), k))])
h = T([8], [0, 3, 3, 1, 0, 3, 4, 0], "i32")
case("movement", "histogram", {}, [h], [T([6], [3, 1, 0, 3, 1, 0], "i32")], "the declared shape says how many bins")

# ---- products ----------------------------------------------------------------------------------------------
a, b = draw([2, 3]), draw([3, 4])


def mm(f, g, k, rows_, cols_):
    return [sum((f(i, l) * g(l, j) for l in range(k)), F(0)) for i in range(rows_) for j in range(cols_)]


case("products", "matmul", {}, [a, b], [T([2, 4], mm(a.at, b.at, 3, 2, 4))])
at, bt = build([3, 2], lambda i, j: a.at(j, i)), build([4, 3], lambda i, j: b.at(j, i))
case("products", "matmul", {"transpose_a": "true", "transpose_b": "true"}, [at, bt], [T([2, 4], mm(a.at, b.at, 3, 2, 4))])
a3, b3 = draw([2, 1, 2, 3]), draw([3, 3, 2])
case("products", "matmul", {}, [a3, b3],
     [build([2, 3, 2, 2], lambda n_, h_, i, j: sum(a3.at(n_, 0, i, l) * b3.at(h_, l, j) for l in range(3)))])
case("products", "matmul", {}, [a, T([3], b.v[:3])], [T([2], [sum(a.at(i, l) * b.v[l] for l in range(3)) for i in range(2)])])
case("products", "matmul", {}, [T([2, 0], []), T([0, 2], [])], [T([2, 2], [F(0)] * 4)], "no terms")
ai, bi = ints([2, 5], -128, 127, "i8"), ints([5, 3], -128, 127, "i8")
case("products", "matmul", {}, [ai, bi], [build([2, 3], lambda i, j: sum(ai.at(i, l) * bi.at(l, j) for l in range(5)), "i32")])
x, w, bias = draw([2, 3]), draw([4, 3]), draw([4])
lin = lambda i, j: sum(x.at(i, l) * w.at(j, l) for l in range(3)) + bias.at(j)
case("products", "linear", {}, [x, w, bias], [build([2, 4], lin)])
case("products", "linear", {"activation": "relu"}, [x, w, bias], [build([2, 4], lambda i, j: max(F(0), lin(i, j)))])
case("products", "linear", {"activation": "gelu"}, [x, w, bias], [build([2, 4], lambda i, j: ONE["gelu"](lin(i, j)))])
case("products", "linear", {"activation": "silu"}, [x, w, bias], [build([2, 4], lambda i, j: ONE["silu"](lin(i, j)))])
nb = lambda i, j: sum(x.at(i, l) * w.at(j, l) for l in range(3))
case("products", "linear", {}, [x, w], [build([2, 4], nb)])
a, b = ints([2, 4], -8, 8, "e4m3"), ints([4, 3], -8, 8, "e4m3")
sa, sb = draw([2, 2], 1, 9), draw([2, 3], 1, 9)
sc_ = lambda i, j: sum(sa.at(i, l // 2) * sb.at(l // 2, j) * a.at(i, l) * b.at(l, j) for l in range(4))
case("products", "matmul_scaled", {"block": 2}, [a, b, sa, sb], [build([2, 3], sc_)])
bt = build([3, 4], lambda i, j: b.at(j, i), "e4m3")
case("products", "matmul_scaled", {"block": 2, "transpose_b": "true"}, [a, bt, sa, sb], [build([2, 3], sc_)])

# ---- convolutions and pools --------------------------------------------------------------------------------


def conv(x, w, bias, stride, pad, dil, groups):
    n_, c_, hh, ww = x.shape
    o_, cg, kh, kw = w.shape
    oh = (hh + 2 * pad[0] - dil[0] * (kh - 1) - 1) // stride[0] + 1
    ow = (ww + 2 * pad[1] - dil[1] * (kw - 1) - 1) // stride[1] + 1

    def f(n, o, i, j):
        total = bias.at(o) if bias else F(0)
        g_ = o // (o_ // groups)
        for c in range(cg):
            for p_ in range(kh):
                for q_ in range(kw):
                    y_, x_ = i * stride[0] - pad[0] + p_ * dil[0], j * stride[1] - pad[1] + q_ * dil[1]
                    if 0 <= y_ < hh and 0 <= x_ < ww:
                        total += x.at(n, g_ * cg + c, y_, x_) * w.at(o, c, p_, q_)
        return total

    return build([n_, o_, oh, ow], f)


x, w, bias = draw([2, 2, 5, 4]), draw([4, 2, 3, 2]), draw([4])
case("conv", "conv2d", {}, [x, w, bias], [conv(x, w, bias, (1, 1), (0, 0), (1, 1), 1)])
case("conv", "conv2d", {"stride": "[2, 1]", "padding": "[1, 2]"}, [x, w], [conv(x, w, None, (2, 1), (1, 2), (1, 1), 1)])
case("conv", "conv2d", {"padding": 2, "dilation": 2}, [x, w, bias], [conv(x, w, bias, (1, 1), (2, 2), (2, 2), 1)])
wg = draw([4, 1, 3, 2])
case("conv", "conv2d", {"groups": 2}, [x, wg, bias], [conv(x, wg, bias, (1, 1), (0, 0), (1, 1), 2)])
wd = draw([2, 1, 3, 3])
case("conv", "depthwise_conv2d", {"padding": 1}, [x, wd], [conv(x, wd, None, (1, 1), (1, 1), (1, 1), 2)])
xl, wl = draw([2, 3, 6]), draw([3, 1, 4])
causal = lambda dil: build([2, 3, 6], lambda n, c, t_: sum(
    (wl.at(c, 0, k) * xl.at(n, c, t_ - (3 - k) * dil) for k in range(4) if t_ - (3 - k) * dil >= 0), F(0)))
case("conv", "conv1d_causal", {"groups": 3}, [xl, wl], [causal(1)], "y[t] = sum over k of w[k] x[t - (K - 1 - k)]")
case("conv", "conv1d_causal", {"groups": 3, "dilation": 2}, [xl, wl], [causal(2)])
case("conv", "conv1d_causal", {}, [xl, T([3, 4], wl.v)], [causal(1)], "one filter per channel")
wf = draw([2, 3, 2])
case("conv", "conv1d_causal", {}, [xl, wf],
     [build([2, 2, 6], lambda n, o, t_: sum((wf.at(o, c, k) * xl.at(n, c, t_ - 1 + k) for c in range(3) for k in range(2) if t_ - 1 + k >= 0), F(0)))])


def pool(x, kernel, stride, pad, f):
    n_, c_, hh, ww = x.shape
    oh, ow = (hh + 2 * pad - kernel[0]) // stride[0] + 1, (ww + 2 * pad - kernel[1]) // stride[1] + 1
    return build([n_, c_, oh, ow], lambda n, c, i, j: f([
        x.at(n, c, i * stride[0] - pad + p_, j * stride[1] - pad + q_) for p_ in range(kernel[0]) for q_ in range(kernel[1])
        if 0 <= i * stride[0] - pad + p_ < hh and 0 <= j * stride[1] - pad + q_ < ww]))


case("conv", "maxpool2d", {"kernel": 2}, [x], [pool(x, (2, 2), (2, 2), 0, max)])
case("conv", "maxpool2d", {"kernel": "[3, 2]", "stride": 1, "padding": 1}, [x], [pool(x, (3, 2), (1, 1), 1, max)])
case("conv", "avgpool2d", {"kernel": 2, "stride": 1}, [x], [pool(x, (2, 2), (1, 1), 0, lambda r_: sum(r_) / 4)])
case("conv", "avgpool2d", {"kernel": 2, "stride": 2, "padding": 1}, [x], [pool(x, (2, 2), (2, 2), 1, lambda r_: sum(r_) / 4)],
     "the zeros of the padding count")

# ---- attention ---------------------------------------------------------------------------------------------


def attend(q, ks, vs, scale):
    p_ = soft([scale * sum((a_ * b_ for a_, b_ in zip(q, k)), F(0)) for k in ks])
    return [mp.fsum(w_ * m(v_[c]) for w_, v_ in zip(p_, vs)) for c in range(len(vs[0]))]


q, k, v = draw([3, 4]), draw([3, 4]), draw([3, 2])
row = lambda t_, i: [t_.at(i, d) for d in range(t_.shape[1])]
case("attention", "attention", {}, [q, k, v],
     [T([3, 2], sum((attend(row(q, i), [row(k, j) for j in range(3)], [row(v, j) for j in range(3)], F(1, 2)) for i in range(3)), []))],
     "the default scale is 1/sqrt(4)")
case("attention", "attention", {"causal": "true", "scale": 0.25}, [q, k, v],
     [T([3, 2], sum((attend(row(q, i), [row(k, j) for j in range(i + 1)], [row(v, j) for j in range(i + 1)], F(1, 4)) for i in range(3)), []))])
q, k, v = draw([1, 4, 2, 2]), draw([1, 2, 3, 2]), draw([1, 2, 3, 2])
r4 = lambda t_, h_, i: [t_.at(0, h_, i, d) for d in range(2)]
case("attention", "attention", {"scale": 0.5}, [q, k, v],
     [T([1, 4, 2, 2], sum((attend(r4(q, h_, i), [r4(k, h_ // 2, j) for j in range(3)], [r4(v, h_ // 2, j) for j in range(3)], F(1, 2))
                           for h_ in range(4) for i in range(2)), []))], "two heads share each of k and v")
q, k, v, n = draw([2, 2, 4]), draw([2, 3, 1, 4]), draw([2, 3, 1, 4]), T([2], [3, 1], "i32")
rc = lambda t_, b_, j: [t_.at(b_, j, 0, d) for d in range(4)]
case("attention", "attention_decode", {}, [q, k, v, n],
     [T([2, 2, 4], sum((attend([q.at(b_, h_, d) for d in range(4)], [rc(k, b_, j) for j in range(n.v[b_])],
                               [rc(v, b_, j) for j in range(n.v[b_])], F(1, 2)) for b_ in range(2) for h_ in range(2)), []))])
x = draw([3, 2, 4])


def rope(interleaved):
    def f(s_, h_, d):
        i = d // 2 if interleaved else d % 2
        first = (d % 2 == 0) if interleaved else d < 2
        other = (d ^ 1) if interleaved else (d + 2) % 4
        th = s_ * mp.mpf(100) ** (-mp.mpf(2 * i) / 4)
        return m(x.at(s_, h_, d)) * mp.cos(th) + (-1 if first else 1) * m(x.at(s_, h_, other)) * mp.sin(th)
    return build([3, 2, 4], f)


case("attention", "rope", {"base": 100}, [x], [rope(False)])
case("attention", "rope", {"base": 100, "interleaved": "true"}, [x], [rope(True)])

# ---- the rest ----------------------------------------------------------------------------------------------
x, c = draw([4, 3]), draw([3, 3])
x.v[0:3] = [F(0), F(0), F(0)]
c.v = [F(1), F(0), F(0), F(0), F(1), F(0), F(3), F(3), F(2)]
dist = [[sum((x.at(i, d) - c.at(j, d)) ** 2 for d in range(3)) for j in range(3)] for i in range(4)]
case("other", "kmeans_assign", {}, [x, c], [T([4], [r_.index(min(r_)) for r_ in dist], "i32"), T([4], [min(r_) for r_ in dist])],
     "the first row is as far from the first centroid as from the second")
TT, H, DK, DV = 3, 2, 2, 2
q, k, v = draw([TT, H, DK], -4, 4), draw([TT, H, DK], -4, 4), draw([TT, H, DV], -4, 4)
be, g = draw([TT, H], 1, 3), T([TT, H], [F(-1, 4), F(0), F(-1, 2), F(-1), F(0), F(-1, 8)])
o = [[[None] * DV for _ in range(H)] for _ in range(TT)]
state = []
for h_ in range(H):
    S = [[mp.mpf(0)] * DV for _ in range(DK)]
    for t_ in range(TT):
        S = [[mp.exp(m(g.at(t_, h_))) * S[i][j] for j in range(DV)] for i in range(DK)]
        err = [m(v.at(t_, h_, j)) - mp.fsum(S[i][j] * m(k.at(t_, h_, i)) for i in range(DK)) for j in range(DV)]
        S = [[S[i][j] + m(be.at(t_, h_)) * m(k.at(t_, h_, i)) * err[j] for j in range(DV)] for i in range(DK)]
        for j in range(DV):
            o[t_][h_][j] = mp.mpf(0.5) * mp.fsum(S[i][j] * m(q.at(t_, h_, i)) for i in range(DK))
    state += [S[i][j] for i in range(DK) for j in range(DV)]
case("other", "gated_delta_rule", {"scale": 0.5}, [q, k, v, be, g],
     [build([TT, H, DV], lambda a_, b_, c_: o[a_][b_][c_]), T([H, DK, DV], state)])
x = T([2, 4], [F(1), F(-127), F(63), F(127, 4), F(0), F(0), F(0), F(0)])
case("other", "quantize", {"dtype": "i8"}, [x], [T([2, 4], [1, -127, 63, 32, 0, 0, 0, 0], "i8"), T([2, 1], [F(1), F(1)])],
     "127/4 = 31.75 rounds to 32; an all-zero block has scale 1")
x = T([1, 4], [F(448), F(-17), F(3), F(14)])
case("other", "quantize", {"dtype": "e4m3", "block": 2}, [x], [T([1, 4], [448, -16, 96, 448], "e4m3"), T([1, 2], [F(1), F(1, 32)])],
     "-17 lies between -16 and -18 and rounds to the even one")
qv, sv, zv = ints([2, 4], -128, 127, "i8"), draw([2, 2], 1, 9), ints([2, 2], -5, 5, "i8")
case("other", "dequantize", {"block": 2}, [qv, sv], [build([2, 4], lambda i, j: qv.at(i, j) * sv.at(i, j // 2))])
case("other", "dequantize", {"block": 2}, [qv, sv, zv],
     [build([2, 4], lambda i, j: (qv.at(i, j) - zv.at(i, j // 2)) * sv.at(i, j // 2))])

for name, cases in tables.items():
    with open(os.path.join(HERE, name + ".yaml"), "w") as f:
        f.write("# Written by generate.py from the ops' definitions in exact rationals and 50-digit arithmetic.\n")
        f.write("\n".join(cases) + "\n")
    print(name, len(cases))
