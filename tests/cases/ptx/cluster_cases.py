"""Clusters of two blocks: addresses in each other's shared memory, stores, reductions and arrivals there. Each block has a
value of its own; what the other wrote is read behind the barrier that orders it, and where the order is left out the race
must be reported. One block where the form is only a spelling."""
import struct

from case_writer import Family
from form_cases import options
from hopper_cases import wrapped
from warp_memory_cases import samples

SOURCE = "the ISA's text: a value passed between the blocks of a cluster"
BOTH = ["cluster 2", "module .shared .align 16 .b8 s[64];", "module .shared .align 8 .b64 bar[1];",
        "reg .b32 own, own_bar, rank, peer, peer_bar, q<4>;", "reg .b64 p<6>;", "reg .b16 h;", "reg .pred done;"]
RACE = ["reg .b32 d;", "fault shared-race"]
START = ("mov.u32 own, s;\nmov.u32 own_bar, bar;\nmov.u32 rank, %cluster_ctarank;\nxor.b32 rank, rank, 1;\n"
         "mapa.shared::cluster.u32 peer, own, rank;\nmapa.shared::cluster.u32 peer_bar, own_bar, rank;\n")
SYNC = "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n"
WIDTH = {"b8": 8, "b16": 16, "b32": 32, "b64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64, "s8": 8, "s16": 16, "s32": 32, "s64": 64,
         "f32": 32, "f64": 64, "b128": 128}


def begin(count=1):
    """An mbarrier in each block, before any of them is used."""
    return START + f"mbarrier.init.shared::cta.b64 [own_bar], {count};\nfence.mbarrier_init.release.cluster;\n" + SYNC


def wait(order=".acquire.cluster"):
    return f"W: mbarrier.try_wait.parity{order}.shared::cta.b64 done, [own_bar], 0;\n@!done bra W;\n"


def swapped(values):
    return values[::-1]


def addresses():
    a = samples(700, 2)
    put = "st.shared.b32 [own+4], a;\n"
    with Family("cluster_address_forms", SOURCE, [("a", "b32", a)], BOTH, "sm_90") as family:
        family.add("mapa.shared_cluster.u64", "of a 64-bit shared address", START + put + "cvt.u64.u32 p0, own;\nmapa.shared::cluster.u64 p1, p0, rank;\n" + SYNC +
                   "ld.shared::cluster.b32 d, [p1+4];\n" + SYNC, [("d", "b32", swapped(a))])
        family.add("mapa.shared_cluster.u64_variable", "of a variable", START + put + "mapa.shared::cluster.u64 p1, s+4, rank;\n" + SYNC +
                   "ld.shared::cluster.b32 d, [p1];\n" + SYNC, [("d", "b32", swapped(a))])
        family.add("mapa.u64", "of a generic address", START + put + "mov.u64 p0, s;\ncvta.shared.u64 p0, p0;\nmapa.u64 p1, p0, rank;\n" + SYNC + "ld.b32 d, [p1+4];\n" + SYNC,
                   [("d", "b32", swapped(a))])
        family.add("getctarank.shared_cluster.u64", "the block of a 64-bit shared address", START + "cvt.u64.u32 p0, peer;\ngetctarank.shared::cluster.u64 d, p0;\n"
                   "getctarank.shared::cluster.u64 e, s;\nadd.u32 e, e, rank;", [("d", "b32", [1, 0]), ("e", "b32", [1, 1])])
        family.add("cvta.shared_cluster.u64", "to a generic address", START + put + "cvt.u64.u32 p0, peer;\ncvta.shared::cluster.u64 p1, p0;\n" + SYNC + "ld.b32 d, [p1+4];\n" + SYNC,
                   [("d", "b32", swapped(a))])
        family.add("cvta.to.shared_cluster.u64", "from a generic address", START + put + "mov.u64 p0, s;\ncvta.shared.u64 p0, p0;\nmapa.u64 p1, p0, rank;\n"
                   "cvta.to.shared::cluster.u64 p2, p1;\ncvt.u64.u32 p3, peer;\nsub.u64 p4, p2, p3;\ncvt.u32.u64 e, p4;\n" + SYNC + "ld.shared::cluster.b32 d, [p2+4];\n" + SYNC,
                   [("d", "b32", swapped(a)), ("e", "b32", [0, 0])])
        family.add("barrier_cluster_left_out", "the same without a barrier between the write and the read", START + SYNC + put + "ld.shared::cluster.b32 d, [peer+4];\n" + SYNC, [],
                   extra=RACE)


def accesses():
    """Every type, in both directions; a narrow one leaves the bytes beside it as they are."""
    for op in ("st", "ld"):
        with Family(f"{op}_shared_cluster_forms", SOURCE + "; bytes in little-endian order, laid out by Python", [], BOTH, "sm_90") as family:
            for n, t in enumerate(WIDTH):
                w = WIDTH[t]
                if w == 128:
                    lows, highs = samples(710, 2, 64), samples(711, 2, 64)
                    pack, unpack = "mov.b128 x, {a, b};\n", "mov.b128 {d, e}, x;\n"
                    body = START + SYNC + pack + (f"st.shared::cluster.b128 [peer], x;\n{SYNC}ld.shared.b128 x, [own];\n" if op == "st" else
                                           f"st.shared.b128 [own], x;\n{SYNC}ld.shared::cluster.b128 x, [peer];\n{SYNC}") + unpack
                    family.add(f"{op}.shared_cluster.{t}", "between the blocks", body, [("d", "b64", swapped(lows)), ("e", "b64", swapped(highs))],
                               [("a", "b64", lows), ("b", "b64", highs)], ["reg .b128 x;"])
                    continue
                values = samples(720 + n, 2, w)
                r = max(w, 16)  # registers of 16 bits hold 8
                sign = (lambda x: (x | 0xFF00) if t == "s8" and x >> 7 else x)
                inner = f"b{w}"
                zero = "mov.u64 p5, -1;\nst.shared.b64 [own+8], p5;\n"
                if op == "st":
                    body = START + zero + SYNC + f"st.shared::cluster.{t} [peer+8], a;\n" + SYNC + f"ld.shared.{t} d, [own+8];\nld.shared.b64 e, [own+8];"
                    whole = [v | (1 << 64) - (1 << w) for v in swapped(values)]
                    outs = [("e", "b64", whole)]
                else:
                    body = START + f"st.shared.{inner} [own+8], a;\n" + SYNC + f"ld.shared::cluster.{t} d, [peer+8];\n" + SYNC
                    outs = []
                family.add(f"{op}.shared_cluster.{t}", "between the blocks", body, [("d", f"b{r}", [sign(v) for v in swapped(values)])] + outs, [("a", f"b{r}", values)])
            for t, count in (("b32", 4), ("f32", 2), ("u64", 2), ("b8", 4)):
                w = WIDTH[t]
                columns = [samples(740 + i, 2, w) for i in range(count)]
                group = lambda c: "{" + ", ".join(f"{c}{i}" for i in range(count)) + "}"
                r = max(w, 16)
                ins = [(f"a{i}", f"b{r}", column) for i, column in enumerate(columns)]
                body = START + SYNC + (f"st.shared::cluster.v{count}.{t} [peer+16], {group('a')};\n{SYNC}ld.shared.v{count}.{t} {group('d')}, [own+16];" if op == "st" else
                                f"st.shared.v{count}.{t} [own+16], {group('a')};\n{SYNC}ld.shared::cluster.v{count}.{t} {group('d')}, [peer+16];\n{SYNC}")
                family.add(f"{op}.shared_cluster.v{count}.{t}", "between the blocks", body, [(f"d{i}", f"b{r}", swapped(column)) for i, column in enumerate(columns)], ins)


def stores():
    """st.async: values and their bytes arrive together at the other block's mbarrier."""
    with Family("st_async_forms", SOURCE + ", complete on its mbarrier", [], BOTH, "sm_90") as family:
        for n, (weak, space, vector, t) in enumerate(options(("", ".weak"), (".shared::cluster", ""), (1, 2, 4), ("b32", "b64", "u32", "u64", "s32", "s64", "f32", "f64"))):
            w = WIDTH[t]
            if w * vector > 128 or (not space and vector > 1):
                continue
            columns = [samples(800 + n + i, 2, w) for i in range(vector)]
            group = lambda c: f"{c}0" if vector == 1 else "{" + ", ".join(f"{c}{i}" for i in range(vector)) + "}"
            v = "" if vector == 1 else f".v{vector}"
            generic = "mov.u64 p0, s;\ncvta.shared.u64 p0, p0;\nmapa.u64 p1, p0, rank;\nmov.u64 p2, bar;\ncvta.shared.u64 p2, p2;\nmapa.u64 p3, p2, rank;\n" if not space else ""
            to, at = ("peer", "peer_bar") if space else ("p1", "p3")
            family.add(f"st.async{weak}{space}{v}.{t}", "to the other block",
                       begin() + generic + f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [own_bar], {w // 8 * vector};\n"
                       f"st.async{weak}{space}.mbarrier::complete_tx::bytes{v}.{t} [{to}], {group('a')}, [{at}];\n" + wait("") + f"ld.shared{v}.{t} {group('d')}, [own];",
                       [(f"d{i}", f"b{w}", swapped(c)) for i, c in enumerate(columns)], [(f"a{i}", f"b{w}", c) for i, c in enumerate(columns)])
        a = samples(798, 2)
        family.add("st.async_not_awaited", "read before the bytes are complete", begin() + "mbarrier.arrive.expect_tx.shared::cta.b64 _, [own_bar], 4;\n"
                   "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [peer], a, [peer_bar];\nld.shared.b32 d, [own];\n" + wait(""), [], [("a", "b32", a)], RACE)
    with Family("red_async_forms", SOURCE + "; Python's integers", [], BOTH, "sm_90") as family:
        kinds = [(op, "u32") for op in ("inc", "dec", "min", "max", "add")] + [(op, "s32") for op in ("min", "max", "add")] + \
                [(op, "b32") for op in ("and", "or", "xor")] + [("add", "u64")]
        for n, (space, (op, t)) in enumerate(options((".shared::cluster", ""), tuple(kinds))):
            w = int(t[1:])
            memory, data = samples(860 + n, 2, w), samples(900 + n, 2, w)
            generic = "mov.u64 p0, s;\ncvta.shared.u64 p0, p0;\nmapa.u64 p1, p0, rank;\nmov.u64 p2, bar;\ncvta.shared.u64 p2, p2;\nmapa.u64 p3, p2, rank;\n" if not space else ""
            to, at = ("peer", "peer_bar") if space else ("p1", "p3")
            family.add(f"red.async{space}.{op}.{t}", "on the other block's memory",
                       START + f"st.shared.b{w} [own], m;\nmbarrier.init.shared::cta.b64 [own_bar], 1;\nfence.mbarrier_init.release.cluster;\n" + SYNC + generic +
                       f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [own_bar], {w // 8};\n"
                       f"red.async.relaxed.cluster{space}.mbarrier::complete_tx::bytes.{op}.{t} [{to}], a, [{at}];\n" + wait("") + f"ld.shared.b{w} d, [own];",
                       [("d", f"b{w}", [wrapped(op, t, x, y) for x, y in zip(memory, swapped(data))])], [("a", f"b{w}", data), ("m", f"b{w}", memory)])


def barriers():
    """barrier.cluster: what comes before the arrival of one block is there after the wait of the other, unless the arrival is relaxed."""
    a = samples(760, 2)
    put, get = "st.shared.b32 [own+4], a;\n", "ld.shared::cluster.b32 d, [peer+4];\n"
    got = [("d", "b32", swapped(a))]
    with Family("barrier_cluster_forms", SOURCE, [("a", "b32", a)], BOTH, "sm_90") as family:
        for arrive, aligned, acquire in options(("", ".release", ".relaxed"), ("", ".aligned"), ("", ".acquire")):
            sync = f"barrier.cluster.arrive{arrive}{aligned};\nbarrier.cluster.wait{acquire}{aligned};\n"
            fence = "fence.acq_rel.cluster;\n" if arrive == ".relaxed" else ""
            name = f"barrier.cluster{arrive}{acquire}{aligned}"
            family.add(name, "data behind the barrier" + (", by the fence before it" if fence else ""), START + put + fence + sync + get + SYNC, got)
            if fence:
                family.add(name + "_no_fence", "a relaxed arrival publishes nothing", START + put + sync + get + SYNC, [], extra=RACE)


def arrivals():
    """Arrivals and bytes at the other block's mbarrier. A release of the cluster's scope publishes what the block wrote there."""
    a = samples(770, 2)
    put, get = "st.shared::cluster.b32 [peer+8], a;\n", "ld.shared.b32 d, [own+8];\n"
    got, one = [("d", "b32", swapped(a))], [("d", "b32", [1, 1])]
    with Family("mbarrier_cluster_forms", SOURCE + "; phases, pending counts and tx-counts of an mbarrier", [("a", "b32", a)], BOTH, "sm_90") as family:
        for op, order in options(("arrive", "arrive_drop"), ("", ".release.cta", ".release.cluster", ".relaxed.cta", ".relaxed.cluster")):
            publishes = order in ("", ".release.cluster")
            to = f"mbarrier.{op}{order}.shared::cluster.b64 _, [peer_bar];\n"
            done = "mov.u32 d, 1;" if not publishes else get
            # The last barrier of the cluster keeps both blocks there.
            family.add(f"{op}{order}", "at the other block's mbarrier", begin() + (put if publishes else "") + to + wait(".acquire.cluster" if publishes else ".relaxed.cluster") + done + "\n" + SYNC,
                       got if publishes else one)
            if order == ".relaxed.cluster":
                family.add(f"{op}{order}_data", "a relaxed arrival publishes nothing", begin() + put + to + wait() + get + SYNC, [], extra=RACE)
                family.add(f"{op}{order}_fence", "unless a fence comes before it", begin() + put + "fence.acq_rel.cluster;\n" + to + wait() + get + SYNC, got)
            family.add(f"{op}{order}_count", "as often as the operand says", begin(3) + f"mbarrier.{op}{order}.shared::cluster.b64 _, [peer_bar], 3;\n" + wait(".relaxed.cluster") + "mov.u32 d, 1;\n" + SYNC, one)
            tx = f"mbarrier.{op}.expect_tx{order}.shared::cluster.b64 _, [peer_bar], 4;\n"
            if op == "arrive_drop" and order:
                family.add(f"{op}.expect_tx_space_first{order}", "modifiers in another order", begin() + tx.replace(f"{order}.shared::cluster", f".shared::cluster{order}") +
                           "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [peer+8], a, [peer_bar];\n" + wait("") + get + SYNC, got)
            family.add(f"{op}.expect_tx{order}", "with bytes to come: st.async brings them", begin() + tx +
                       "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [peer+8], a, [peer_bar];\n" + wait("") + get + SYNC, got)
        family.add("wait_relaxed_data", "a relaxed wait takes nothing over", begin() + put + "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [peer_bar];\n" + wait(".relaxed.cluster") + get + SYNC, [],
                   extra=RACE)
        family.add("wait_relaxed_fence", "unless a fence comes after it", begin() + put + "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [peer_bar];\n" + wait(".relaxed.cluster") +
                   "fence.acq_rel.cluster;\n" + get + SYNC, got)
        # Fences of what a block holds itself: the writer's own shared memory, which the other reads as the cluster's.
        release, acquire = "fence.release.sync_restrict::shared::cta.cluster;\n", "fence.acquire.sync_restrict::shared::cluster.cluster;\n"
        to = "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [peer_bar];\n"
        own, theirs = "st.shared.b32 [own+8], a;\n", "ld.shared::cluster.b32 d, [peer+8];\n"
        family.add("sync_restrict", "a fence on either side of relaxed arrivals", begin() + own + release + to + wait(".relaxed.cluster") + acquire + theirs + SYNC, got)
        family.add("sync_restrict_no_release", "without the first", begin() + own + to + wait(".relaxed.cluster") + acquire + theirs + SYNC, [], extra=RACE)
        family.add("sync_restrict_no_acquire", "without the second", begin() + own + release + to + wait(".relaxed.cluster") + theirs + SYNC, [], extra=RACE)
        family.add("arrive_block_scope", "a release of the block's scope is none for the other block", begin() + put + "mbarrier.arrive.release.cta.shared::cluster.b64 _, [peer_bar];\n" + wait() + get + SYNC, [],
                   extra=RACE)
        family.add("wait_block_scope", "nor is an acquire of the block's scope one of what the other block released", begin() + put + "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [peer_bar];\n" +
                   wait(".acquire.cta") + get + SYNC, [], extra=RACE)
        test = "mbarrier.test_wait.parity.shared::cta.b64 done, [own_bar], 0;\n"
        for order, space in options(("", ".relaxed.cta", ".relaxed.cluster"), ("", ".shared", ".shared::cta", ".shared::cluster")):
            # Of the own block, so that what is pending in between can be seen.
            own = {"": "mov.u64 p0, bar;\ncvta.shared.u64 p0, p0;\n", ".shared::cluster": "xor.b32 rank, rank, 1;\nmapa.shared::cluster.u32 q0, own_bar, rank;\n"}.get(space, "")
            at = {"": "p0", ".shared::cluster": "q0"}.get(space, "own_bar")
            family.add(f"tx{order}{space}", "expected bytes hold the phase until they are complete",
                       begin() + own + f"mbarrier.expect_tx{order}{space}.b64 [{at}], 8;\nmbarrier.arrive.shared::cta.b64 _, [own_bar];\n" + test + "selp.u32 e, 1, 0, done;\n"
                       f"mbarrier.complete_tx{order}{space}.b64 [{at}], 8;\n" + test + "selp.u32 d, 1, 0, done;", one + [("e", "b32", [0, 0])])


def write_all():
    addresses()
    accesses()
    stores()
    barriers()
    arrivals()
