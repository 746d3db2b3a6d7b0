"""sm_90: clusters of one block, mbarrier, bulk copies, reductions. One thread a case; what is expected follows
from the PTX ISA's description of each instruction, worked out on Python's integers."""
import struct

from case_writer import Family, case
from warp_memory_cases import samples

MASK32, MASK64 = (1 << 32) - 1, (1 << 64) - 1
REGS = ["module .shared .align 128 .b8 s[512];", "module .shared .align 8 .b8 bar[16];",
        "reg .b32 q<6>;", "reg .b64 p<6>;", "reg .pred w<3>;", "reg .b16 mask;"]
ONE = [("a", "b32", [0])]
START = "mov.u32 q0, s;\nmov.u32 q1, bar;\n"
INIT = START + "mbarrier.init.shared::cta.b64 [q1], {n};\nfence.proxy.async;\n"
WAIT = "WAIT{k}: mbarrier.try_wait.parity.shared::cta.b64 w0, [q1], {parity};\n@!w0 bra WAIT{k};\n"


def wait(parity=0, k=0):
    return WAIT.format(parity=parity, k=k)


def barrier(name, text, body, outs, n=1, target="sm_90", regs=(), ins=ONE):
    case("mbarrier_" + name, text, INIT.format(n=n) + body, ins, outs, target, extra=REGS + list(regs))


def flag(register, predicate="w1"):
    return f"selp.b32 {register}, 1, 0, {predicate};\n"


def mbarriers():
    test = "mbarrier.test_wait.parity.shared::cta.b64 w1, [q1], {};\n"
    barrier("arrive_completes", "the last of the expected arrivals completes the phase",
            "mbarrier.arrive.shared::cta.b64 p0, [q1];\n" + test.format(0) + flag("d") +
            "mbarrier.arrive.shared::cta.b64 p1, [q1];\n" + test.format(0) + flag("e"),
            [("d", "b32", [0]), ("e", "b32", [1])], n=2)
    barrier("arrive_count", "an arrival counts as often as its operand says",
            "mbarrier.arrive.release.cta.shared::cta.b64 p0, [q1], 3;\n" + test.format(0) + flag("d") +
            "mbarrier.arrive.relaxed.cluster.shared::cta.b64 p1, [q1], 2;\n" + test.format(0) + flag("e"),
            [("d", "b32", [0]), ("e", "b32", [1])], n=5)
    barrier("pending_count", "the state that an arrival returns holds what was pending before it",
            "mbarrier.arrive.shared::cta.b64 p0, [q1], 3;\nmbarrier.arrive.shared::cta.b64 p1, [q1];\n"
            "mbarrier.pending_count.b64 d, p0;\nmbarrier.pending_count.b64 e, p1;\n",
            [("d", "b32", [7]), ("e", "b32", [4])], n=7)
    barrier("test_wait_state", "a state waits for its own phase",
            "mbarrier.arrive.shared::cta.b64 p0, [q1];\nmbarrier.arrive.shared::cta.b64 p1, [q1];\n"
            "mbarrier.test_wait.shared::cta.b64 w1, [q1], p0;\n" + flag("d") +
            "mbarrier.arrive.shared::cta.b64 p2, [q1];\n"
            "mbarrier.test_wait.acquire.cta.shared::cta.b64 w1, [q1], p2;\n" + flag("e"),
            [("d", "b32", [1]), ("e", "b32", [0])], n=2)
    barrier("try_wait_time", "a time limit does not change what is found",
            "mbarrier.arrive.shared::cta.b64 _, [q1];\nmov.u32 q2, 1000;\n"
            "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 w1, [q1], 0, q2;\n" + flag("d") +
            "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 w1, [q1], 1, q2;\n" + flag("e"),
            [("d", "b32", [1]), ("e", "b32", [0])])
    barrier("arrive_drop", "a drop lowers what later phases expect",
            "mbarrier.arrive_drop.shared::cta.b64 p0, [q1];\nmbarrier.arrive.shared::cta.b64 p1, [q1];\n" +
            test.format(0) + flag("d") + "mbarrier.arrive.shared::cta.b64 p2, [q1];\n" + test.format(1) + flag("e"),
            [("d", "b32", [1]), ("e", "b32", [1])], n=2)
    barrier("arrive_no_complete", "an arrival that leaves the phase incomplete",
            "mbarrier.arrive.noComplete.shared::cta.b64 p0, [q1], 2;\nmbarrier.pending_count.b64 d, p0;\n" +
            test.format(0) + flag("e"), [("d", "b32", [3]), ("e", "b32", [0])], n=3)
    barrier("expect_tx", "expected bytes hold the phase until complete_tx has named them all",
            "mbarrier.arrive.expect_tx.shared::cta.b64 p0, [q1], 48;\n" + test.format(0) + flag("d") +
            "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [q1], 48;\n" + test.format(0) + flag("e"),
            [("d", "b32", [0]), ("e", "b32", [1])])
    barrier("expect_tx_alone", "expect_tx without an arrival, in two parts",
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [q1], 16;\n"
            "mbarrier.expect_tx.relaxed.cluster.shared::cta.b64 [q1], 16;\n"
            "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [q1], 16;\nmbarrier.arrive.shared::cta.b64 p0, [q1];\n" +
            test.format(0) + flag("d") + "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [q1], 16;\n" +
            test.format(0) + flag("e"), [("d", "b32", [0]), ("e", "b32", [1])])
    barrier("remote_sink", "an arrival in the cluster's window returns nothing",
            "mapa.shared::cluster.u32 q2, q1, 0;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [q2];\n" +
            test.format(0) + flag("d"), [("d", "b32", [1])])
    barrier("parity_of_the_past", "the parity of the phase before has completed",
            test.format(1) + flag("d") + test.format(0) + flag("e"), [("d", "b32", [1]), ("e", "b32", [0])])
    for name, text, body, n in (
            ("fault_count", "more arrivals than are pending",
             "mbarrier.arrive.shared::cta.b64 p0, [q1], 3;", 2),
            ("fault_completes", "an arrival with .noComplete that completes",
             "mbarrier.arrive.noComplete.shared::cta.b64 p0, [q1], 2;", 2),
            ("fault_inval", "an object that was invalidated",
             "mbarrier.inval.shared::cta.b64 [q1];\nmbarrier.arrive.shared::cta.b64 p0, [q1];", 2),
            ("fault_bytes", "more bytes than can be pending",
             "mov.u32 q2, 1048576;\nmbarrier.expect_tx.relaxed.cta.shared::cta.b64 [q1], q2;", 2),
            ("fault_old_state", "a state of two phases ago",
             "mbarrier.arrive.shared::cta.b64 p0, [q1];\nmbarrier.arrive.shared::cta.b64 p1, [q1];\n"
             "mbarrier.arrive.shared::cta.b64 p1, [q1];\nmbarrier.test_wait.shared::cta.b64 w1, [q1], p0;\n"
             "mbarrier.arrive.shared::cta.b64 p1, [q1];\n", 1),
            ("fault_init", "an object for no arrivals", "mov.u32 q2, 0;\nmbarrier.init.shared::cta.b64 [q1+8], q2;", 1)):
        barrier(name, text, body, [], n=n, regs=["fault mbarrier-misuse"])


def bulk(name, text, body, outs, memory=None, regs=(), target="sm_90"):
    extra = REGS + ([f"mem g b32: {memory}"] if memory else []) + list(regs)
    case("cp_async_bulk_" + name, text, body, ONE, outs, target, extra=extra)


def listed(values):
    return " ".join(map(str, values))


def bulk_copies():
    values = samples(300, 32)
    load = ("mbarrier.arrive.expect_tx.shared::cta.b64 _, [q1], 64;\n"
            "cp.async.bulk.{to}.global.mbarrier::complete_tx::bytes{mod} [q0+16], [g+32], 64, [q1]{more};\n")
    read = "ld.shared.b32 d, [q0+16];\nld.shared.b32 e, [q0+76];\n"
    outs = [("d", "b32", [values[8]]), ("e", "b32", [values[23]])]
    for name, to, mod, more in (("load", "shared::cluster", "", ""), ("load_cta", "shared::cta", "", ""),
                                ("load_multicast", "shared::cluster", ".multicast::cluster", ", mask")):
        bulk(name, "global to shared, complete on an mbarrier",
             INIT.format(n=1) + "mov.b16 mask, 1;\n" + load.format(to=to, mod=mod, more=more) + wait() + read,
             outs, listed(values))
    bulk("load_cache_hint", "with a cache policy",
         INIT.format(n=1) + "createpolicy.fractional.L2::evict_last.b64 p0, 1.0;\n" +
         load.format(to="shared::cluster", mod=".L2::cache_hint", more=", p0") + wait() + read, outs, listed(values))
    bulk("two_loads", "one phase takes the bytes of several copies",
         INIT.format(n=1) + "mbarrier.arrive.expect_tx.shared::cta.b64 _, [q1], 48;\n"
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [q0], [g], 16, [q1];\n"
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [q0+16], [g+64], 32, [q1];\n" + wait() +
         "ld.shared.b32 d, [q0+12];\nld.shared.b32 e, [q0+44];\n",
         [("d", "b32", [values[3]]), ("e", "b32", [values[23]])], listed(values))
    bulk("shared_to_shared", "shared to the shared memory of a block of the cluster",
         INIT.format(n=1) + "".join(f"st.shared.b32 [q0+{4 * i}], {v};\n" for i, v in enumerate(values[:4])) +
         "fence.proxy.async.shared::cta;\nmapa.shared::cluster.u32 q2, q0, 0;\nmapa.shared::cluster.u32 q3, q1, 0;\n"
         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [q1], 16;\n"
         "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [q2+64], [q0], 16, [q3];\n" + wait() +
         "ld.shared.b32 d, [q0+64];\nld.shared.b32 e, [q0+76];\n",
         [("d", "b32", [values[0]]), ("e", "b32", [values[3]])])
    fill = START + "".join(f"st.shared.b32 [q0+{4 * i}], {v};\n" for i, v in enumerate(values[:8])) + "fence.proxy.async;\n"
    done = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group{} 0;\n"
    before = samples(301, 12)
    for name, end in (("store", done.format("")), ("store_read", done.format(".read"))):
        bulk(name, "shared to global in a bulk group",
             fill + "cp.async.bulk.global.shared::cta.bulk_group [g+16], [q0], 32;\n" + end, [],
             f"{listed(before)} -> {listed(before[:4] + values[:8])}")
    bulk("wait_group_one", "all but the latest group are complete",
         fill + "cp.async.bulk.global.shared::cta.bulk_group [g], [q0], 16;\ncp.async.bulk.commit_group;\n"
         "cp.async.bulk.global.shared::cta.bulk_group [g+16], [q0+16], 16;\ncp.async.bulk.commit_group;\n"
         "cp.async.bulk.wait_group 1;\nld.global.b32 d, [g+12];\ncp.async.bulk.wait_group 0;\nld.global.b32 e, [g+28];\n",
         [("d", "b32", [values[3]]), ("e", "b32", [values[7]])],
         f"{listed(before[:8])} -> {listed(values[:8])}")
    for name, fault, body in (
            ("fault_size", "bulk-copy", load.replace("64, [q1]", "60, [q1]")),
            ("fault_shared_alignment", "misaligned-access", load.replace("[q0+16]", "[q0+8]")),
            ("fault_global_alignment", "misaligned-access", load.replace("[g+32]", "[g+24]")),
            ("fault_bounds", "out-of-bounds", load.replace("[g+32]", "[g+80]")),
            ("fault_no_barrier", "mbarrier-misuse", load.replace(", [q1]{more}", ", [q1+8]")),
            ("fault_no_wait", "shared-race", load + "ld.shared.b32 q4, [q0+16];\n")):
        bulk(name, "what a bulk copy cannot have", INIT.format(n=1) + body.format(to="shared::cluster", mod="", more=""),
             [], listed(values), regs=["fault " + fault])
    bulk("fault_no_fence", "an ordinary write that the async proxy reads",
         fill.replace("fence.proxy.async;\n", "") + "cp.async.bulk.global.shared::cta.bulk_group [g+16], [q0], 32;\n" +
         done.format(""), [], listed(before), regs=["fault missing-proxy-fence"])
    bulk("fault_source_overwritten", "a source that is written before it was read",
         fill + "cp.async.bulk.global.shared::cta.bulk_group [g+16], [q0], 32;\ncp.async.bulk.commit_group;\n"
         "st.shared.b32 [q0+4], 1;\ncp.async.bulk.wait_group.read 0;\n", [], listed(before), regs=["fault shared-race"])
    bulk("fault_not_awaited", "a block that ends before its copy has read its shared memory",
         fill + "cp.async.bulk.global.shared::cta.bulk_group [g+16], [q0], 32;\ncp.async.bulk.commit_group;\n", [],
         listed(before), regs=["fault unawaited-copy"])
    bulk("prefetch", "no effect on what is computed",
         "cp.async.bulk.prefetch.L2.global [g], 64;\nld.global.b32 d, [g];\n", [("d", "b32", [values[0]])],
         listed(values))


def bits16(t, x):
    """The bits of a number that f16 or bf16 holds."""
    return struct.unpack("<H", struct.pack("<e", x))[0] if t == "f16" else struct.unpack("<I", struct.pack("<f", x))[0] >> 16


def bulk_forms():
    """Forms that differ in hints, and reductions of 16-bit floats."""
    values, before = samples(302, 32), samples(303, 12)
    policy = "createpolicy.fractional.L2::evict_last.b64 p5, 1.0;\n"
    with Family("bulk_forms", "the ISA's text; bytes in little-endian order, laid out by Python", ONE, REGS, "sm_90") as family:
        for to, mod, more in (("shared::cta", "", ""), ("shared::cluster", ".multicast::cluster", ", mask"), ("shared::cluster", "", "")):
            family.add(f"load_{to}{mod}_hint", "with a cache policy", INIT.format(n=1) + policy + "mov.b16 mask, 1;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [q1], 64;\n"
                       f"cp.async.bulk.{to}.global.mbarrier::complete_tx::bytes{mod}.L2::cache_hint [q0+16], [g+32], 64, [q1]{more}, p5;\n" + wait() + "ld.shared.b32 d, [q0+16];\nld.shared.b32 e, [q0+76];",
                       [("d", "b32", [values[8]]), ("e", "b32", [values[23]])], extra=[f"mem g b32: {listed(values)}"])
        fill = START + "".join(f"st.shared.b32 [q0+{4 * i}], {v};\n" for i, v in enumerate(values[:8])) + "fence.proxy.async;\n"
        done = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;"
        family.add("store_hint", "with a cache policy", fill + policy + "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [g+16], [q0], 32, p5;\n" + done, [],
                   extra=[f"mem g b32: {listed(before)} -> {listed(before[:4] + values[:8])}"])
        family.add("prefetch_hint", "no effect on what is computed", policy + "cp.async.bulk.prefetch.L2.global.L2::cache_hint [g], 64, p5;\nld.global.b32 d, [g];",
                   [("d", "b32", [values[0]])], extra=[f"mem g b32: {listed(values)}"])
        family.add("reduce_hint", "with a cache policy", fill + policy + "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.u32 [g+16], [q0], 32, p5;\n" + done, [],
                   extra=[f"mem g b32: {listed(before)} -> {listed(before[:4] + [x + y & MASK32 for x, y in zip(before[4:], values)])}"])
        for op, t in (("add", "bf16"), ("add", "f16"), ("min", "f16"), ("max", "f16"), ("min", "bf16"), ("max", "bf16")):
            a, b = [1.5, -2.25, 1024.0, 0.5, -3.0, 0.0, 96.0, -0.125], [0.25, 2.25, -64.0, 3.0, -5.5, 7.0, -96.0, 0.125]
            f = {"add": lambda x, y: x + y, "min": min, "max": max}[op]
            pairs = lambda column: [lo | hi << 16 for lo, hi in zip(column[::2], column[1::2])]
            memory, data = [bits16(t, x) for x in a], [bits16(t, x) for x in b]
            result = [bits16(t, f(x, y)) for x, y in zip(a, b)]
            if op != "add":  # a NaN gives way to the number, -0 is below +0
                memory[5], data[5], result[5] = 0x7E00 if t == "f16" else 0x7FC0, bits16(t, 7.0), bits16(t, 7.0)
                memory[7], data[7], result[7] = 0x8000, 0, 0x8000 if op == "min" else 0
            noftz = ".noftz" if op == "add" else ""
            family.add(f"reduce_{op}_{t}", "element by element into global memory", START + "".join(f"st.shared.b32 [q0+{4 * i}], {v};\n" for i, v in enumerate(pairs(data))) +
                       f"fence.proxy.async;\ncp.reduce.async.bulk.global.shared::cta.bulk_group.{op}{noftz}.{t} [g], [q0], 16;\n" + done, [],
                       extra=[f"mem g b32: {listed(pairs(memory))} -> {listed(pairs(result))}"])
        memory, data = samples(304, 2, 64), samples(305, 2, 64)
        words = [x >> s & MASK32 for v in (data, memory) for x in v for s in (0, 32)]
        family.add("reduce_shared_add_u64", "element by element into shared memory", INIT.format(n=1) +
                   "".join(f"st.shared.b32 [q0+{4 * i + (48 if i >= 4 else 0)}], {v};\n" for i, v in enumerate(words)) + "fence.proxy.async;\n"
                   "mapa.shared::cluster.u32 q2, q0, 0;\nmapa.shared::cluster.u32 q3, q1, 0;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [q1], 16;\n"
                   "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u64 [q2+64], [q0], 16, [q3];\n" + wait() + "ld.shared.v2.b64 {d, e}, [q0+64];",
                   [(c, "b64", [(x + y) & MASK64]) for c, x, y in zip("de", memory, data)])
    with Family("proxy_fence_forms", "the ISA's text: no effect on values", [("a", "b32", [1, 2])], ["mem g b32: " + " ".join(["0"] * 32)], "sm_90") as family:
        for text in ["membar.proxy.alias"] + [f"fence.proxy.tensormap::generic.release.{s}" for s in ("cta", "cluster", "gpu", "sys")] + \
                    [f"fence.proxy.tensormap::generic.acquire.{s} [g], 128" for s in ("cta", "cluster", "gpu", "sys")]:
            family.add(text.split(" ")[0], "a thread's own values", text + ";\nadd.u32 d, a, 1;", [("d", "b32", [2, 3])])
    warps = list(range(128))
    with Family("setmaxnreg_forms", "the ISA's text: no effect on values; all warps of a warpgroup execute it", [("a", "b32", warps)], target="sm_90a") as family:
        family.add("setmaxnreg", "fewer registers, then more", "setmaxnreg.dec.sync.aligned.u32 40;\nadd.u32 d, a, 1;\nbar.sync 0;\nsetmaxnreg.inc.sync.aligned.u32 96;\nadd.u32 d, d, 1;",
                   [("d", "b32", [x + 2 for x in warps])])


def signed(v, w):
    return v - (1 << w) if v >> (w - 1) else v


def wrapped(op, t, a, b):
    """An integer reduction of the element a in memory with b."""
    w = int(t[1:])
    x, y = (signed(a, w), signed(b, w)) if t[0] == "s" else (a, b)
    results = {"add": x + y, "min": min(x, y), "max": max(x, y), "and": x & y, "or": x | y, "xor": x ^ y,
               "inc": 0 if x >= y else x + 1, "dec": y if x == 0 or x > y else x - 1}
    return results[op] & ((1 << w) - 1)


def reductions():
    kinds = [("add", t) for t in ("u32", "s32", "u64")] + \
            [(op, t) for op in ("min", "max") for t in ("u32", "s32", "u64", "s64")] + \
            [(op, t) for op in ("and", "or", "xor") for t in ("b32", "b64")] + [("inc", "u32"), ("dec", "u32")]
    for n, (op, t) in enumerate(kinds):
        w = int(t[1:])
        count = 128 // w
        memory, data = samples(310 + n, count, w), samples(350 + n, count, w)
        if op in ("inc", "dec"):
            data[0], memory[1] = memory[0], 0
        result = [wrapped(op, t, a, b) for a, b in zip(memory, data)]
        fill = START + "".join(f"mov.b{w} {'q2' if w == 32 else 'p0'}, {v};\nst.shared.b{w} [q0+{w // 8 * i}], {'q2' if w == 32 else 'p0'};\n"
                               for i, v in enumerate(data)) + "fence.proxy.async;\n"
        case(f"cp_reduce_async_bulk_{op}_{t}", "element by element into global memory",
             fill + f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{op}.{t} [g], [q0], 16;\n"
             "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n", ONE, [], "sm_90",
             extra=REGS + [f"mem g b{w}: {listed(memory)} -> {listed(result)}"])
        if w == 32:
            body = INIT.format(n=1) + "".join(f"st.shared.b32 [q0+{4 * i}], {v};\nst.shared.b32 [q0+{64 + 4 * i}], {m};\n"
                                              for i, (v, m) in enumerate(zip(data, memory))) + "fence.proxy.async;\n"
            case(f"cp_reduce_async_bulk_shared_{op}_{t}", "element by element into shared memory",
                 body + "mapa.shared::cluster.u32 q2, q0, 0;\nmapa.shared::cluster.u32 q3, q1, 0;\n"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [q1], 16;\n"
                 f"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{op}.{t} [q2+64], [q0], 16, [q3];\n"
                 + wait() + "ld.shared.v4.b32 {d, e, f, h}, [q0+64];\n", ONE,
                 [(c, "b32", [v]) for c, v in zip("defh", result)], "sm_90", extra=REGS)
            case(f"red_async_{op}_{t}", "a reduction that completes on an mbarrier",
                 INIT.format(n=1) + f"st.shared.b32 [q0], {memory[0]};\nmapa.shared::cluster.u32 q2, q0, 0;\n"
                 "mapa.shared::cluster.u32 q3, q1, 0;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [q1], 4;\n"
                 f"mov.b32 q4, {data[0]};\n"
                 f"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{op}.{t} [q2], q4, [q3];\n"
                 + wait() + "ld.shared.b32 d, [q0];\n", ONE, [("d", "b32", [result[0]])], "sm_90", extra=REGS)
    floats = [1.5, -2.25, 1024.0, 0.5]
    addends = [0.25, 2.25, -1.0, 3.0]
    for t, code, width in (("f32", "<f", 32), ("f64", "<d", 64), ("f16", "<e", 16)):
        count = 128 // width
        a, b = [(floats * 2)[i % 8] for i in range(count)], [(addends * 2)[i % 8] for i in range(count)]
        bits = lambda x: int.from_bytes(struct.pack(code, x), "little")
        words = lambda xs: struct.unpack("<4I", b"".join(struct.pack(code, x) for x in xs))
        op = "add.noftz.f16" if t == "f16" else "add." + t
        case(f"cp_reduce_async_bulk_add_{t}", "sums that every rounding gives exactly",
             START + "".join(f"st.shared.b32 [q0+{4 * i}], {v};\n" for i, v in enumerate(words(b))) +
             f"fence.proxy.async;\ncp.reduce.async.bulk.global.shared::cta.bulk_group.{op} [g], [q0], 16;\n"
             "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n", ONE, [], "sm_90",
             extra=REGS + [f"mem g b32: {listed(words(a))} -> {listed(words([x + y for x, y in zip(a, b)]))}"])


def clusters():
    names = [("cluster_ctarank", 0), ("cluster_nctarank", 1)] + \
            [(f"{n}.{c}", v) for n, v in (("clusterid", 0), ("nclusterid", 1), ("cluster_ctaid", 0), ("cluster_nctaid", 1)) for c in "xyz"]
    for n, v in names:
        case("special_" + n.replace(".", "_"), "a launch without a cluster has clusters of one block",
             f"mov.u32 d, %{n};", ONE, [("d", "b32", [v])], "sm_90")
    case("special_is_explicit_cluster", "a launch without a cluster", "mov.pred w1, %is_explicit_cluster;\n" + flag("d"), ONE,
         [("d", "b32", [0])], "sm_90", extra=REGS)
    case("mapa_shared", "the own block's address and its rank",
         "mov.u32 q0, s;\nmapa.shared::cluster.u32 q1, q0, 0;\nst.shared::cluster.b32 [q1+4], 77;\nld.shared.b32 d, [q0+4];\n"
         "getctarank.shared::cluster.u32 e, q1;\n", ONE, [("d", "b32", [77]), ("e", "b32", [0])], "sm_90", extra=REGS)
    case("mapa_generic", "generic addresses",
         "mov.u64 p0, s;\ncvta.shared.u64 p0, p0;\nmapa.u64 p1, p0, 0;\nst.b32 [p1+8], 78;\nld.shared::cluster.b32 d, [s+8];\n"
         "getctarank.u64 e, p1;\n", ONE, [("d", "b32", [78]), ("e", "b32", [0])], "sm_90", extra=REGS)
    case("mapa_address", "the rank of a block stands above bit 24 of its shared addresses",
         "mov.u32 q0, s;\nmapa.shared::cluster.u32 q1, q0, a;\nsub.u32 d, q1, q0;\ngetctarank.shared::cluster.u32 e, q1;\n",
         [("a", "b32", [0, 1, 5])], [("d", "b32", [0, 1 << 24, 5 << 24]), ("e", "b32", [0, 1, 5])], "sm_90", extra=REGS)
    for end in ("", ".aligned"):
        slug = end.replace(".", "_")
        case("barrier_cluster" + slug, "of a cluster of one block",
             "mov.u32 q0, s;\nmad.lo.u32 q1, tid_, 4, q0;\nst.shared.b32 [q1], a;\n"
             f"barrier.cluster.arrive.release{end};\nbarrier.cluster.wait.acquire{end};\nld.shared.b32 d, [q0+8];\n",
             [("a", "b32", [5, 6, 7, 8])], [("d", "b32", [7, 7, 7, 7])], "sm_90", extra=REGS)
    case("barrier_cluster_relaxed", "an arrival that orders nothing: a fence comes before",
         "mov.u32 q0, s;\nmad.lo.u32 q1, tid_, 4, q0;\nst.shared.b32 [q1], a;\nfence.acq_rel.cluster;\n"
         "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\nld.shared.b32 d, [q0+8];\n",
         [("a", "b32", [5, 6, 7, 8])], [("d", "b32", [7, 7, 7, 7])], "sm_90", extra=REGS)
    for name, text, body in (("no_arrival", "a wait without an arrival", "barrier.cluster.wait;"),
                             ("twice", "two arrivals without a wait", "barrier.cluster.arrive;\nbarrier.cluster.arrive;")):
        case("barrier_cluster_fault_" + name, text, body, ONE, [], "sm_90", extra=REGS + ["fault illegal-instruction"])
    case("shared_cluster_atom", "an atomic in the cluster's window",
         "mov.u32 q0, s;\nst.shared.b32 [q0], 5;\nmapa.shared::cluster.u32 q1, q0, 0;\n"
         "atom.relaxed.cluster.shared::cluster.add.u32 d, [q1], 3;\nred.shared::cluster.add.u32 [q1], 4;\nld.shared.b32 e, [q0];\n",
         ONE, [("d", "b32", [5]), ("e", "b32", [12])], "sm_90", extra=REGS)
    case("fault_shared_cluster_rank", "a block that the cluster does not have",
         "mov.u32 q0, s;\nmapa.shared::cluster.u32 q1, q0, 3;\nld.shared::cluster.b32 q2, [q1];\n", ONE, [], "sm_90",
         extra=REGS + ["fault out-of-bounds"])


def others():
    for t, w in (("b32", 32), ("b64", 64)):
        value = samples(390 + w, 4, w)
        for v in (1, 2, 4):
            if w * v > 128:
                continue
            regs = [f"{'q' if w == 32 else 'p'}{2 + i}" for i in range(v)] if w == 32 else [f"p{i}" for i in range(v)]
            mov = "".join(f"mov.{t} {r}, {x};\n" for r, x in zip(regs, value))
            operand = regs[0] if v == 1 else "{" + ", ".join(regs) + "}"
            vec = "" if v == 1 else f".v{v}"
            case(f"st_async{vec.replace('.', '_')}_{t}", "values that complete on an mbarrier",
                 INIT.format(n=1) + mov + f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [q1], {w // 8 * v};\n"
                 f"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes{vec}.{t} [q0], {operand}, [q1];\n" + wait() +
                 f"ld.shared.b32 d, [q0];\nld.shared.b32 e, [q0+{w // 8 * v - 4}];\n", ONE,
                 [("d", "b32", [value[0] & MASK32]), ("e", "b32", [value[v - 1] >> (w - 32)])], "sm_90", extra=REGS)
    fences = ["fence.proxy.alias", "fence.proxy.async", "fence.proxy.async.global", "fence.proxy.async.shared::cta",
              "fence.proxy.async.shared::cluster", "fence.mbarrier_init.release.cluster",
              "fence.proxy.tensormap::generic.release.gpu", "fence.proxy.tensormap::generic.acquire.cta [g], 128",
              "fence.acquire.sync_restrict::shared::cluster.cluster", "fence.release.sync_restrict::shared::cta.cluster",
              "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
              "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
              "griddepcontrol.wait", "griddepcontrol.launch_dependents", "prefetch.global.L2 [g]", "prefetch.global.L1 [g]",
              "prefetch.global.L2::evict_last [g]", "prefetchu.L1 [g]", "applypriority.global.L2::evict_normal [g], 128",
              "prefetch.tensormap [g]"]
    for text in fences:
        name = text.split(" ")[0].replace(".", "_").replace("::", "_")
        case("order_" + name, "no effect on a single thread's values", text + ";\nadd.u32 d, a, 1;", [("a", "b32", [1, 2])],
             [("d", "b32", [2, 3])], "sm_90", extra=["mem g b32: " + " ".join(["0"] * 32)])


def write_all():
    mbarriers()
    bulk_forms()
    bulk_copies()
    reductions()
    clusters()
    others()
