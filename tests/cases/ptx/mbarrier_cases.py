"""Cases of mbarrier in the block's own shared memory: every spelling of space, order and scope within the block."""
from case_writer import Family
from form_cases import options
from warp_memory_cases import samples

SOURCE = "the ISA's text: phases, pending counts and tx-counts of an mbarrier"
N = 64
RACE = ["reg .b32 d;", "fault shared-race"]
SPACES = ("", ".shared", ".shared::cta")


def write_all():
    ones = [("d", "b32", [1] * N)]
    a = list(range(5, 5 + N))
    declare = ["module .shared .align 8 .b64 object[1];", "module .shared .align 4 .b8 s[256];", "reg .b32 q<4>;", "reg .b64 p<2>, state;", "reg .pred first, done;"]
    for space in SPACES:
        setup = "mov.u32 q0, object;\nsetp.eq.u32 first, tid_, 0;\n" if space else "mov.u64 p0, object;\ncvta.shared.u64 p0, p0;\nsetp.eq.u32 first, tid_, 0;\n"
        at = "[q0]" if space else "[p0]"
        tag = space.replace(".", "_") or "_generic"
        with Family(f"mbarrier{tag.replace('::', '_')}", SOURCE, [("a", "b32", a)], declare, "sm_90") as family:
            def begin(count):
                return setup + f"@first mbarrier.init{space}.b64 {at}, {count};\nbar.sync 0;\n"

            def wait(form=f".test_wait", order="", parity=False):
                return (f"W: mbarrier{form}{'.parity' if parity else ''}{order}{space}.b64 done, {at}, {'0' if parity else 'state'};\n@!done bra W;\n")
            # All threads arrive; behind the wait, what the others wrote before it can be read.
            put = "mov.u32 q1, s;\nmad.lo.u32 q2, tid_, 4, q1;\nst.shared.b32 [q2], a;\n"
            get = f"sub.u32 q3, {N - 1}, tid_;\nmad.lo.u32 q3, q3, 4, q1;\nld.shared.b32 d, [q3];"
            for order, (form, parity) in options(("", ".release.cta", ".release.cluster"), ((".test_wait", False), (".test_wait", True), (".try_wait", False), (".try_wait", True))):
                acquire = order.replace("release", "acquire")
                name = f"arrive{order}{form}{'.parity' if parity else ''}"
                family.add(name, "data behind the wait", begin(N) + put + f"mbarrier.arrive{order}{space}.b64 state, {at};\n" + wait(form, acquire, parity) + get, [("d", "b32", a[::-1])])
            for relaxed, (form, parity) in options((".relaxed.cta", ".relaxed.cluster"), ((".test_wait", False), (".test_wait", True), (".try_wait", False), (".try_wait", True))):
                name = f"arrive{form}{'.parity' if parity else ''}{relaxed}"
                family.add(name, "the phase completes; nothing is said of data", begin(N) + f"mbarrier.arrive{relaxed}{space}.b64 state, {at};\n" + wait(form, relaxed, parity) + "mov.u32 d, 1;", ones)
                scope = relaxed[8:]
                # What is weaker than a release and an acquire leaves a race, unless a fence makes up for it.
                family.add(f"{name}_data", "a relaxed wait takes nothing over", begin(N) + put + f"mbarrier.arrive.release{scope}{space}.b64 state, {at};\n" + wait(form, relaxed, parity) + get, [], extra=RACE)
                family.add(f"{name}_fence", "unless a fence comes after it", begin(N) + put + f"mbarrier.arrive.release{scope}{space}.b64 state, {at};\n" + wait(form, relaxed, parity) + f"fence.acq_rel{scope};\n" + get,
                           [("d", "b32", a[::-1])])
                if form == ".test_wait" and not parity:
                    family.add(f"{name}_arrival_data", "a relaxed arrival publishes nothing", begin(N) + put + f"mbarrier.arrive{relaxed}{space}.b64 state, {at};\n" + wait(form, f".acquire{scope}") + get, [], extra=RACE)
                    family.add(f"{name}_arrival_fence", "unless a fence comes before it", begin(N) + put + f"fence.acq_rel{scope};\nmbarrier.arrive{relaxed}{space}.b64 state, {at};\n" + wait(form, f".acquire{scope}") + get,
                               [("d", "b32", a[::-1])])
            for order in ("", ".release.cta", ".release.cluster", ".relaxed.cta", ".relaxed.cluster"):
                family.add(f"arrive_count{order}", "each thread counts twice", begin(2 * N) + f"mbarrier.arrive{order}{space}.b64 state, {at}, 2;\n" + wait() + "mov.u32 d, 1;", ones)
                # After the drop of half the threads the next phase needs only the other half.
                family.add(f"arrive_drop{order}", "the next phase expects fewer",
                           begin(N) + f"setp.lt.u32 first, tid_, {N // 2};\n" + f"@first mbarrier.arrive_drop{order}{space}.b64 state, {at};\n@!first mbarrier.arrive{space}.b64 state, {at};\n" + wait() +
                           f"bar.sync 0;\n@first bra E;\nmbarrier.arrive{space}.b64 state, {at};\nV: mbarrier.test_wait{space}.b64 done, {at}, state;\n@!done bra V;\nE: mov.u32 d, 1;", ones)
                if space and order:  # the grammar has the space first here
                    family.add(f"arrive_drop.expect_tx_space_first{order}", "modifiers in another order",
                               begin(1) + f"mov.u32 d, 0;\n@!first bra E;\nmbarrier.arrive_drop.expect_tx{space}{order}.b64 state, {at}, 24;\nmbarrier.test_wait{space}.b64 done, {at}, state;\n@done bra E;\n"
                               f"mbarrier.complete_tx{space}.b64 {at}, 24;\nmbarrier.test_wait{space}.b64 done, {at}, state;\n@done mov.u32 d, 1;\nE:", [("d", "b32", [1] + [0] * (N - 1))])
                # Thread 0 announces 24 bytes; the phase stays open until they are there.
                for op in ("arrive", "arrive_drop"):
                    family.add(f"{op}.expect_tx{order}", "the phase waits for the bytes too",
                               begin(1) + f"mov.u32 d, 0;\n@!first bra E;\nmbarrier.{op}.expect_tx{order}{space}.b64 state, {at}, 24;\nmbarrier.test_wait{space}.b64 done, {at}, state;\n@done bra E;\n"
                               f"mbarrier.complete_tx{space}.b64 {at}, 24;\nmbarrier.test_wait{space}.b64 done, {at}, state;\n@done mov.u32 d, 1;\nE:", [("d", "b32", [1] + [0] * (N - 1))])
            for order in ("", ".relaxed.cta"):
                family.add(f"expect_tx{order}", "without an arrival",
                           begin(1) + f"mov.u32 d, 0;\n@!first bra E;\nmbarrier.expect_tx{order}{space}.b64 {at}, 8;\nmbarrier.arrive{space}.b64 state, {at};\nmbarrier.test_wait{space}.b64 done, {at}, state;\n@done bra E;\n"
                           f"mbarrier.complete_tx{order}{space}.b64 {at}, 8;\nmbarrier.test_wait{space}.b64 done, {at}, state;\n@done mov.u32 d, 1;\nE:", [("d", "b32", [1] + [0] * (N - 1))])
            for order in ("", ".release.cta"):
                for op in ("arrive", "arrive_drop"):
                    family.add(f"{op}.noComplete{order}", "the count before it, in the state",
                               begin(5) + f"mov.u32 d, 0;\n@!first bra E;\nmbarrier.{op}.noComplete{order}{space}.b64 state, {at}, 2;\nmbarrier.pending_count.b64 d, state;\nE:", [("d", "b32", [5] + [0] * (N - 1))])
            family.add("inval", "and made anew", begin(N) + f"mbarrier.arrive{space}.b64 state, {at};\n" + wait() + f"bar.sync 0;\n@first mbarrier.inval{space}.b64 {at};\nbar.sync 0;\n@first mbarrier.init{space}.b64 {at}, {N};\n"
                       f"bar.sync 0;\nmbarrier.arrive{space}.b64 state, {at};\nV: mbarrier.test_wait{space}.b64 done, {at}, state;\n@!done bra V;\nmov.u32 d, 1;", ones)
    copies()


def copies():
    """cp.async.mbarrier.arrive: the copies that a thread has made before it arrive at an mbarrier when they are complete."""
    n = 32
    data = samples(990, n)
    declare = ["module .shared .align 8 .b64 object[1];", "module .shared .align 16 .b8 s[128];", "mem g b32: " + " ".join(map(str, data)), "reg .b32 q<4>;", "reg .b64 p<3>, state;", "reg .pred first, done;"]
    got = [("d", "b32", data[::-1])]
    with Family("cp_async_mbarrier_forms", SOURCE, [("t", "b32", list(range(n)))], declare, "sm_80") as family:
        for space in ("", ".shared", ".shared::cta"):
            at = "[q0]" if space else "[p0]"
            setup = "mov.u64 p0, object;\ncvta.shared.u64 p0, p0;\nmov.u32 q0, object;\nmov.u32 q1, s;\nsetp.eq.u32 first, tid_, 0;\n@first mbarrier.init.shared.b64 [q0], 32;\nbar.sync 0;\n"
            copy = "mul.wide.u32 p1, tid_, 4;\nadd.u64 p2, g, p1;\nmad.lo.u32 q2, tid_, 4, q1;\ncp.async.ca.shared.global [q2], [p2], 4;\n"
            wait = "W: mbarrier.test_wait.shared.b64 done, [q0], state;\n@!done bra W;\n"
            get = "sub.u32 q3, 31, tid_;\nmad.lo.u32 q3, q3, 4, q1;\nld.shared.b32 d, [q3];"
            family.add(f"arrive{space}", "raises what is pending by the arrival that it makes: the thread arrives itself, too", setup + copy +
                       f"cp.async.mbarrier.arrive{space}.b64 {at};\nmbarrier.arrive.shared.b64 state, [q0];\n" + wait + get, got)
            # The state to wait for is that of the first phase: its parity.
            parity = "W: mbarrier.test_wait.parity.shared.b64 done, [q0], 0;\n@!done bra W;\n"
            family.add(f"arrive.noinc{space}", "is the thread's arrival", setup + copy + f"cp.async.mbarrier.arrive.noinc{space}.b64 {at};\n" + parity + get, got, target="sm_80")
        family.add("left_out", "without it the phase does not wait for the copies", setup + copy + "mbarrier.arrive.shared.b64 state, [q0];\n" + wait + get + "\nst.global.b32 [p2], d;", [], extra=["reg .b32 d;", "fault uninitialised-read"])
