"""Copies through tensor maps (TMA, tile mode) and the instructions on the maps themselves. What a box holds follows from
cuTensorMapEncodeTiled and the ISA's section on tensors, worked out here element by element: coordinates are those of the
box's first element, elements outside the tensor are filled (loads) or left out (stores), the innermost dimension is
contiguous, and a swizzle exchanges 16-byte chunks by the bits of the shared address above."""
import itertools
import struct

from case_writer import Family
from form_cases import options
from hopper_cases import listed, wrapped
from warp_memory_cases import samples

SOURCE = "the ISA's sections on tensors, boxes and swizzles, element by element"
BYTES = {"u8": 1, "u16": 2, "u32": 4, "s32": 4, "u64": 8, "s64": 8, "f16": 2, "f32": 4, "f64": 8, "bf16": 2}
SHARED = ["module .shared .align 1024 .b8 s[2048];", "module .shared .align 8 .b64 bar[1];", "reg .b32 at, at_bar, q<6>, c<5>;", "reg .b64 p<6>;", "reg .b16 mask;",
          "reg .pred first, done;"]
START = "mov.u32 at, s;\nmov.u32 at_bar, bar;\nsetp.eq.u32 first, tid_, 0;\n"
WAIT = "W: mbarrier.try_wait.parity.shared::cta.b64 done, [at_bar], 0;\n@!done bra W;\n"


class Tensor:
    """A tensor of integers or bit patterns in a buffer, and the box that a map takes of it."""

    def __init__(self, t, dims, box, strides=None, steps=None, swizzle=0, nan=False, seed=0, offset=0):
        self.t, self.dims, self.box, self.swizzle, self.nan = t, dims, box, swizzle, nan
        self.size = BYTES[t]
        self.strides = strides or [self.size * dims[0] * self.product(dims[1:i]) for i in range(1, len(dims))]
        self.steps = steps or [1] * len(dims)
        self.bytes = offset + max(self.place([d - 1 for d in dims]) + self.size, 16)
        self.bytes += -self.bytes % 8
        self.memory = bytearray(b for x in samples(seed, self.bytes // 4 + 1, 32) for b in x.to_bytes(4, "little"))[:self.bytes]
        self.count = [box[0]] + [-(-b // s) for b, s in zip(box[1:], self.steps[1:])]

    @staticmethod
    def product(values):
        n = 1
        for v in values:
            n *= v
        return n

    def place(self, coordinates):
        return coordinates[0] * self.size + sum(c * s for c, s in zip(coordinates[1:], self.strides))

    def line(self):
        return (f"map m: g {self.t} dims {listed(self.dims)} box {listed(self.box)}" + (f" strides {listed(self.strides)}" if self.strides else "") +
                (f" steps {listed(self.steps)}" if self.steps != [1] * len(self.dims) else "") + (f" swizzle {self.swizzle}" if self.swizzle else "") +
                (" fill nan" if self.nan else ""))

    def elements(self, start):
        """(byte in the box as shared memory holds it, byte in the tensor or None) of each element of the box."""
        for number, index in enumerate(itertools.product(*[range(c) for c in reversed(self.count)])):
            steps = [1] + self.steps[1:]
            coordinates = [s + i * step for s, i, step in zip(start, reversed(index), steps)]
            inside = all(0 <= c < d for c, d in zip(coordinates, self.dims))
            yield self.swizzled(number * self.size), self.place(coordinates) if inside else None

    def swizzled(self, at):
        mask = {0: 0, 32: 1, 64: 3, 128: 7}[self.swizzle]
        return at ^ ((at >> 7 & mask) << 4)

    def box_bytes(self):
        return self.product(self.count) * self.size

    def loaded(self, start):
        out = bytearray(self.box_bytes())
        for to, source in self.elements(start):
            if source is not None:
                out[to:to + self.size] = self.memory[source:source + self.size]
        return out

    def values(self, start):
        """Element by element; which NaN fills what is outside is not documented."""
        image, outside = self.loaded(start), {to for to, source in self.elements(start) if source is None}
        return ["nan" if self.nan and at in outside else int.from_bytes(image[at:at + self.size], "little") for at in range(0, len(image), self.size)]

    def stored(self, start, image, combine=None):
        out = bytearray(self.memory)
        for at, to in self.elements(start):
            if to is not None:
                x = image[at:at + self.size]
                if combine:
                    x = combine(self.memory[to:to + self.size], x)
                out[to:to + self.size] = x
        return out


def words(data):
    return list(struct.unpack(f"<{len(data) // 4}I", bytes(data)))


def memory(tensor, after=None):
    before = listed(words(tensor.memory))
    return f"mem g b32: {before}" + (f" -> {listed(words(after))}" if after is not None else "")


def moved(start):
    return "".join(f"mov.s32 c{i}, {x};\n" for i, x in enumerate(start))


def at(start):
    return "{" + ", ".join(f"c{i}" for i in range(len(start))) + "}"


# By dimensions: the tensor's and the box's, and where the box begins: partly outside, in front and behind.
PLACES = {1: ([20], [16], [8]), 2: ([8, 5], [4, 4], [-1, 3]), 3: ([8, 3, 4], [4, 2, 2], [6, -1, 1]),
          4: ([4, 3, 2, 3], [4, 2, 2, 2], [2, 1, 1, -1]), 5: ([4, 2, 2, 3, 2], [4, 2, 1, 2, 2], [-2, 0, 1, 2, 1])}


def load(family, name, text, tensor, start, to="shared::cta", mode=".tile", more="", operands="", before="", change=(), fault=None):
    """`change`: (old, new) pieces of the statements, for what must end with `fault`."""
    kind, size = (tensor.t, tensor.size) if tensor.nan else ("b32", 4)
    threads = tensor.box_bytes() // size
    body = (START + "@first mbarrier.init.shared::cta.b64 [at_bar], 1;\n@first fence.proxy.async;\nbar.sync 0;\n@!first bra W;\n" + before + moved(start) +
            f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [at_bar], {tensor.box_bytes()};\n"
            f"cp.async.bulk.tensor.{len(start)}d.{to}.global{mode}.mbarrier::complete_tx::bytes{more} [at], [m, {at(start)}], [at_bar]{operands};\n" + WAIT +
            f"mad.lo.u32 q0, tid_, {size}, at;\nld.shared.b{8 * size} d, [q0];")
    for old, new in change:
        assert old in body, old
        body = body.replace(old, new)
    family.add(name, text, body, [] if fault else [("d", kind, tensor.values(start) if tensor.nan else words(tensor.loaded(start)))], [("t", "b32", list(range(threads)))],
               [memory(tensor), tensor.line()] + (["reg .b32 d;", f"fault {fault}"] if fault else []))


POLICY = "createpolicy.fractional.L2::evict_last.b64 p0, 1.0;\n"


def loads():
    with Family("tensor_load_forms", SOURCE, [], SHARED, "sm_90") as family:
        for d, mode, to in options(tuple(PLACES), ("", ".tile"), ("shared::cta", "shared::cluster")):
            dims, box, start = PLACES[d]
            load(family, f"{d}d{mode}.{to}", "a box partly outside", Tensor("u32", dims, box, seed=1000 + d), start, to, mode)
        for t in BYTES:
            inner = 16 // BYTES[t]
            tensor = Tensor(t, [inner * 2, 4], [inner, 2], seed=1010)
            load(family, f"{t}", "elements of each type", tensor, [inner // 2 * 3, 1], more="")
        for t in ("f16", "bf16", "f32", "f64"):
            inner = 32 // BYTES[t]
            load(family, f"{t}_nan", "outside is NaN", Tensor(t, [inner + 16 // BYTES[t], 3], [inner, 2], nan=True, seed=1020), [inner, 2])
        for swizzle in (32, 64, 128):
            load(family, f"swizzle_{swizzle}", "chunks of 16 bytes change places by row", Tensor("f16", [swizzle, 20], [swizzle // 2, 16], swizzle=swizzle, seed=1030), [8, 5])
            load(family, f"swizzle_{swizzle}_outside", "and where the box is partly outside", Tensor("u32", [swizzle // 4, 12], [swizzle // 4, 8], swizzle=swizzle, seed=1031), [-3, 9])
        load(family, "steps", "one row in three, one plane in two", Tensor("u32", [4, 9, 7], [4, 6, 4], steps=[1, 3, 2], seed=1040), [0, 1, 2])
        load(family, "strides", "rows with gaps", Tensor("u16", [8, 4], [8, 3], strides=[48], seed=1041), [0, 1])
        load(family, "outside", "wholly outside", Tensor("u32", [8, 4], [4, 2], seed=1042), [8, 0])
        for to, d in (("shared::cta", 1), ("shared::cluster", 2)):
            dims, box, start = PLACES[d]
            load(family, f"cache_hint_{to}", "with a cache policy", Tensor("u32", dims, box, seed=1050 + d), start, to, more=".L2::cache_hint", operands=", p0", before=POLICY)
        tensor = Tensor("u32", [8, 5], [4, 4], seed=1060)
        for name, change, fault in (("rank", [("[m, {c0, c1}]", "[m, {c0}]"), ("tensor.2d", "tensor.1d")], "bulk-copy"), ("alignment", [("[at], [m", "[at+64], [m")], "misaligned-access"),
                                    ("no_map", [("[m, ", "[g, ")], "bulk-copy"), ("read_early", [(", [at_bar], 0;", ", [at_bar], 1;")], "shared-race")):
            load(family, f"fault_{name}", "what cannot be", tensor, [1, 1], change=change, fault=fault)
    with Family("tensor_multicast_forms", SOURCE + "; the same bytes in both blocks of a cluster", [], ["cluster 2"] + SHARED, "sm_90") as family:
        for d, (mode, more, operands) in options(tuple(PLACES), (("", "", ""), (".tile", "", ""), ("", ".L2::cache_hint", ", p0"))):
            dims, box, start = PLACES[d]
            tensor = Tensor("u32", dims, box, seed=1100 + d)
            threads = tensor.box_bytes() // 4
            body = (START + "@first mbarrier.init.shared::cta.b64 [at_bar], 1;\nfence.mbarrier_init.release.cluster;\n"
                    f"@first mbarrier.arrive.expect_tx.shared::cta.b64 _, [at_bar], {tensor.box_bytes()};\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                    "mov.u32 q0, %cluster_ctarank;\nsetp.eq.and.u32 first, q0, 0, first;\n@!first bra W;\n" + (POLICY if operands else "") + "mov.b16 mask, 3;\n" + moved(start) +
                    f"cp.async.bulk.tensor.{d}d.shared::cluster.global{mode}.mbarrier::complete_tx::bytes.multicast::cluster{more} [at], [m, {at(start)}], [at_bar], mask{operands};\n" + WAIT +
                    "mad.lo.u32 q0, tid_, 4, at;\nld.shared.b32 d, [q0];\nbarrier.cluster.arrive;\nbarrier.cluster.wait;")
            family.add(f"{d}d{mode}{more}", "to both blocks", body, [("d", "b32", words(tensor.loaded(start)) * 2)], [("t", "b32", list(range(2 * threads)))], [memory(tensor), tensor.line()])


def image(tensor, seed):
    return bytearray(b for x in samples(seed, tensor.box_bytes() // 4) for b in x.to_bytes(4, "little"))


FILL = "mad.lo.u32 q0, tid_, 4, at;\nst.shared.b32 [q0], a;\nfence.proxy.async;\nbar.sync 0;\n"
DONE = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"


def store(family, name, text, tensor, start, instruction, data, after, operands="", before=""):
    body = START + FILL + "@!first bra E;\n" + before + moved(start) + f"{instruction} [m, {at(start)}], [at]{operands};\n" + DONE + "E:"
    family.add(name, text, body, [], [("a", "b32", words(data))], [memory(tensor, after), tensor.line()])


def stores():
    with Family("tensor_store_forms", SOURCE, [], SHARED, "sm_90") as family:
        for d, mode in options(tuple(PLACES), ("", ".tile")):
            dims, box, start = PLACES[d]
            tensor = Tensor("u32", dims, box, seed=1200 + d)
            data = image(tensor, 1210 + d)
            store(family, f"{d}d{mode}", "what is inside", tensor, start, f"cp.async.bulk.tensor.{d}d.global.shared::cta{mode}.bulk_group", data, tensor.stored(start, data))
        for t in BYTES:
            inner = 16 // BYTES[t]
            tensor = Tensor(t, [inner * 2, 4], [inner, 2], seed=1220)
            data = image(tensor, 1221)
            store(family, t, "elements of each type", tensor, [inner // 2 * 3, 3], "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group", data, tensor.stored([inner // 2 * 3, 3], data))
        for swizzle in (32, 64, 128):
            tensor = Tensor("u32", [swizzle // 4, 12], [swizzle // 4, 8], swizzle=swizzle, seed=1230)
            data = image(tensor, 1231)
            store(family, f"swizzle_{swizzle}", "chunks of 16 bytes come from their places", tensor, [-3, 9], "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group", data, tensor.stored([-3, 9], data))
        tensor = Tensor("u32", [4, 9, 7], [4, 6, 4], steps=[1, 3, 2], seed=1240)
        data = image(tensor, 1241)
        store(family, "steps", "one row in three, one plane in two", tensor, [0, 1, 2], "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group", data, tensor.stored([0, 1, 2], data))
        tensor = Tensor("u32", [8, 5], [4, 4], seed=1250)
        data = image(tensor, 1251)
        store(family, "cache_hint", "with a cache policy", tensor, [2, 3], "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint", data, tensor.stored([2, 3], data), ", p0", POLICY)


def reduction(op, t):
    code = {"f32": "<f", "f64": "<d", "f16": "<e"}.get(t)

    def combine(old, new):
        if code:
            return struct.pack(code, struct.unpack(code, old)[0] + struct.unpack(code, new)[0])
        return wrapped(op, f"{t[0]}{8 * BYTES[t]}", int.from_bytes(old, "little"), int.from_bytes(new, "little")).to_bytes(BYTES[t], "little")
    return combine


def reductions():
    with Family("tensor_reduce_forms", SOURCE + "; Python's integers", [], SHARED, "sm_90") as family:
        def add(name, op, tensor, start, data, mode=""):
            store(family, name, "what is inside", tensor, start, f"cp.reduce.async.bulk.tensor.{len(start)}d.global.shared::cta.{op}{mode}.bulk_group", data,
                  tensor.stored(start, data, reduction(op, tensor.t)))
        for n, (d, op, mode) in enumerate(options(tuple(PLACES), ("add", "min", "max", "inc", "dec", "and", "or", "xor"), ("", ".tile"))):
            dims, box, start = PLACES[d]
            tensor = Tensor("u32", dims, box, seed=1300 + n)
            data = image(tensor, 1400 + n)
            if op in ("inc", "dec"):  # wrap at some
                for to, place in list(tensor.elements(start))[::2]:
                    if place is not None:
                        data[to:to + 4] = tensor.memory[place:place + 4]
            add(f"{op}_{d}d{mode}", op, tensor, start, data, mode)
        for n, (op, t) in enumerate([("add", "s32"), ("min", "s32"), ("max", "s32"), ("add", "u64"), ("min", "u64"), ("max", "u64"), ("min", "s64"), ("max", "s64"),
                                     ("and", "u64"), ("or", "u64"), ("xor", "u64")]):
            inner = 16 // BYTES[t]
            tensor = Tensor(t, [inner * 2, 4], [inner, 2], seed=1500 + n)
            add(f"{op}_{t}", op, tensor, [inner // 2 * 3, 1], image(tensor, 1520 + n))
        for t, code in (("f32", "<f"), ("f64", "<d"), ("f16", "<e")):  # sums that every rounding gives exactly
            inner = 16 // BYTES[t]
            tensor = Tensor(t, [inner * 2, 4], [inner, 2], seed=1540)
            fill = lambda length, values: bytearray(b"".join(struct.pack(code, values[i % len(values)]) for i in range(length // BYTES[t])))
            tensor.memory = fill(len(tensor.memory), [1.5, -2.25, 1024.0, 0.5, 3.0])
            add(f"add_{t}", "add", tensor, [inner // 2 * 3, 1], fill(tensor.box_bytes(), [0.25, 2.25, -1.0]))
        tensor = Tensor("u32", [8, 5], [4, 4], seed=1550)
        data = image(tensor, 1551)
        store(family, "cache_hint", "with a cache policy", tensor, [2, 3], "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group.L2::cache_hint", data,
              tensor.stored([2, 3], data, reduction("add", "u32")), ", p0", POLICY)


def prefetches():
    with Family("tensor_prefetch_forms", "the ISA's text: no effect on values", [], ["reg .b32 c<5>;", "reg .b64 p<2>;"], "sm_90") as family:
        for d, mode, hint in options(tuple(PLACES), ("", ".tile"), ("", ".L2::cache_hint")):
            dims, box, start = PLACES[d]
            tensor = Tensor("u32", dims, box, seed=1600 + d)
            family.add(f"{d}d{mode}{hint}", "into the L2 cache", (POLICY if hint else "") + moved(start) +
                       f"cp.async.bulk.prefetch.tensor.{d}d.L2.global{mode}{hint} [m, {at(start)}]{', p0' if hint else ''};\nld.global.b32 d, [g];",
                       [("d", "b32", words(tensor.memory)[:1])], extra=[memory(tensor), tensor.line()])
        family.add("prefetch.const.tensormap", "a map in constant memory", "prefetch.const.tensormap [constant];\nmov.u32 d, a;", [("d", "b32", [3])], [("a", "b32", [3])],
                   extra=["module .const .align 64 .b8 constant[128] = {1};"])
        tensor = Tensor("u32", [8], [4], seed=1610)
        for space, address in (("", "m"), (".param", "k_m")):
            family.add(f"prefetch{space}.tensormap", "the map itself", f"prefetch{space}.tensormap [{address}];\nld.global.b32 d, [g];", [("d", "b32", words(tensor.memory)[:1])],
                       extra=[memory(tensor), tensor.line()])


# Fields of a map: what each is changed to, and the map that this makes.
def fields():
    base = dict(t="u32", dims=[8, 6], box=[4, 3])
    yield "global_address", "", "p5", "b64", dict(base, offset=32), dict(base, offset=0)
    yield "rank", "", "0", "b32", base, dict(base, dims=[8], box=[4], strides=[])
    yield "box_dim", "1, ", "2", "b32", base, dict(base, box=[4, 2])
    yield "global_dim", "0, ", "6", "b32", base, dict(base, dims=[6, 6], strides=[32])
    yield "global_stride", "0, ", "p5", "b64", dict(base, strides=[32]), dict(base, dims=[8, 3], strides=[64])
    yield "element_stride", "1, ", "2", "b32", base, dict(base, steps=[1, 2])
    yield "elemtype", "", "9", "b32", dict(t="u64", dims=[4, 6], box=[2, 3], nan=False), dict(t="f64", dims=[4, 6], box=[2, 3])
    yield "interleave_layout", "", "0", "b32", base, base
    yield "swizzle_mode", "", "1", "b32", dict(base, box=[8, 6]), dict(base, box=[8, 6], swizzle=32)
    yield "fill_mode", "", "1", "b32", dict(base, t="f32"), dict(base, t="f32", nan=True)


COPY = ("mul.lo.u32 q0, tid_, 4;\ncvt.u64.u32 p0, q0;\nadd.u64 p1, m, p0;\nld.b32 q1, [p1];\n")  # a word of the map in q1, of each of the 32 threads


def replacements():
    """A map of the kernel's is copied, one field is changed, and a box is loaded through the copy."""
    declare = ["module .shared .align 1024 .b8 s[2048];", "module .shared .align 8 .b64 bar[1];", "module .shared .align 128 .b8 copy[128];",
               "reg .b32 at, at_bar, q<6>, c<5>;", "reg .b64 p<6>;", "reg .pred first, done;", "mem maps b64: " + listed([0] * 32) + " -> " + " ".join(["_"] * 32)]
    with Family("tensormap_replace_forms", SOURCE, [("t", "b32", list(range(32)))], declare, "sm_90a") as family:
        release = lambda scope: f"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.{scope}.sync.aligned [maps], [q2], 128;\n"
        acquire = lambda scope: f"fence.proxy.tensormap::generic.acquire.{scope} [maps], 128;\n"

        def add(name, text, field, ordinal, value, width, before, after, space, scope, start, shared_release=True, fault=None, acquires=True):
            before, after = (dict(x) for x in (before, after))
            moved_by = before.pop("offset", 0)
            after.pop("offset", 0)
            first, tensor = Tensor(seed=1700, **before), Tensor(seed=1700, **after)
            tensor.memory = first.memory = (first if len(first.memory) > len(tensor.memory) else tensor).memory
            if field == "global_address":  # the changed map begins 32 bytes later
                tensor.memory = first.memory[32:]
                tensor.dims = [8, 5]
            line = first.line()
            threads = min(32, tensor.box_bytes() // 4)
            rank = len(tensor.dims)
            start = start[:rank]
            p5 = {"global_address": "add.u64 p5, g, 32;\n", "global_stride": "mov.u64 p5, 64;\n"}.get(field, "")
            if field == "global_address":
                p5 += "".join(f"@first tensormap.replace.tile.global_dim{space}.b1024.b32 [ADDRESS], 1, 5;\n" for _ in (0,))
            on = {"": "p3", ".global": "maps", ".shared::cta": "q2"}[space]
            body = START + COPY + "mov.u32 q2, copy;\nadd.u32 q3, q2, q0;\nmov.u64 p3, copy;\ncvta.shared.u64 p3, p3;\n"
            change = p5.replace("ADDRESS", on) + f"@first tensormap.replace.tile.{field}{space}.b1024.{width} [{on}], {ordinal}{value};\n"
            if space == ".global":
                body += "add.u64 p2, maps, p0;\nst.global.b32 [p2], q1;\nbar.warp.sync 0xffffffff;\n" + change + f"fence.proxy.tensormap::generic.release.{scope};\nbar.warp.sync 0xffffffff;\n"
            else:
                body += "st.shared.b32 [q3], q1;\nbar.warp.sync 0xffffffff;\n" + change + "bar.warp.sync 0xffffffff;\n" + release(scope)
            body += acquire(scope) if acquires else ""
            body += ("@first mbarrier.init.shared::cta.b64 [at_bar], 1;\n@first fence.proxy.async;\nbar.sync 0;\n@!first bra W;\n" + moved(start) +
                     f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [at_bar], {tensor.box_bytes()};\n"
                     f"cp.async.bulk.tensor.{rank}d.shared::cta.global.mbarrier::complete_tx::bytes [at], [maps, {at(start)}], [at_bar];\n" + WAIT)
            result = tensor.values(start) if tensor.nan else words(tensor.loaded(start))
            if threads < 32:
                body += f"mov.u32 d, 0;\nsetp.lt.u32 done, tid_, {threads};\nmad.lo.u32 q0, tid_, 4, at;\n@done ld.shared.b32 d, [q0];"
            else:
                body += "mad.lo.u32 q0, tid_, 4, at;\nld.shared.b32 d, [q0];"
            outs = [] if fault else [("d", "f32" if tensor.nan else "b32", (result + [0] * 32)[:32])]
            family.add(name, text, body, outs, extra=[f"mem g b32: {listed(words(first.memory))}", line] + (["reg .b32 d;", f"fault {fault}"] if fault else []))

        for n, (space, (field, ordinal, value, width, before, after)) in enumerate(options(("", ".global", ".shared::cta"), tuple(fields()))):
            scope = ("cta", "cluster", "gpu", "sys")[n % 4]
            start = [-1, 2] if field in ("fill_mode", "box_dim", "global_dim") else [1, 1]
            if field == "global_dim":
                start = [3, 2]
            if field == "global_stride":
                start = [1, 0]
            if field == "swizzle_mode":
                start = [0, 1]
            add(f"{field}{space}", "one field of a copy", field, ordinal, value, width, before, after, space, scope, start)
        base = dict(t="u32", dims=[8, 6], box=[4, 3])
        for scope in ("cta", "cluster", "gpu", "sys"):
            for space in (".global", ".shared::cta"):
                add(f"fences_{scope}{space}", "each scope", "box_dim", "1, ", "2", "b32", base, dict(base, box=[4, 2]), space, scope, [1, 1])
        for space in (".global", ".shared::cta"):
            add(f"no_acquire{space}", "a changed map that is used without the fence of its proxy", "box_dim", "1, ", "2", "b32", base, dict(base, box=[4, 2]), space, "gpu", [1, 1],
                fault="missing-proxy-fence", acquires=False)
        for field, value in (("elemtype", 8), ("elemtype", 11), ("interleave_layout", 1)):
            add(f"fault_{field}_{value}", "a field's value that is not emulated", field, "", str(value), "b32", base, base, ".shared::cta", "gpu", [1, 1], fault="bulk-copy")


def write_all():
    loads()
    stores()
    reductions()
    prefetches()
    replacements()
