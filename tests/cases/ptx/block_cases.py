"""Cases of barriers, fences, warp-wide operations, control flow, the stack and special registers."""
import random

from case_writer import Family
from exact import *
from form_cases import options

SOURCE = "the ISA's text"
BLOCK = 64


def barriers():
    r = random.Random(601)
    a = [r.getrandbits(32) for _ in range(BLOCK)]
    c = [int(r.random() < 0.9) for _ in range(BLOCK)]
    shared = ["module .shared .align 4 .b8 s[256];", "reg .b32 q<4>;", "reg .pred low, all, any;"]
    put = "mov.u32 q0, s;\nshl.b32 q1, tid_, 2;\nadd.u32 q1, q0, q1;\nst.shared.b32 [q1], a;\n"
    get = "sub.u32 q2, 63, tid_;\nshl.b32 q2, q2, 2;\nadd.u32 q2, q0, q2;\nld.shared.b32 d, [q2];"
    exchanged = [("d", "b32", a[::-1])]
    with Family("barrier_forms", SOURCE, [("a", "b32", a), ("c", "pred", c)], shared) as family:
        for name, cta, aligned in [("bar", x, "") for x in ("", ".cta")] + [("barrier", x, y) for x in ("", ".cta") for y in ("", ".aligned")]:
            op = f"{name}{cta}"
            tag = f"{op}{aligned}"
            family.add(f"{tag}.sync", "shared memory behind it", f"{put}{op}.sync{aligned} 0;\n{get}", exchanged)
            family.add(f"{tag}.sync_count", "a named one with a thread count", f"{put}{op}.sync{aligned} 3, 64;\n{get}", exchanged)
            # The lower warp hands over and goes on; the upper one waits and reads.
            family.add(f"{tag}.arrive", "one warp arrives, the other waits",
                       f"mov.u32 d, 0;\nsetp.lt.u32 low, tid_, 32;\n{put}@low bra A;\n{op}.sync{aligned} 2, 64;\n{get}\nbra E;\nA: {op}.arrive{aligned} 2, 64;\nE:",
                       [("d", "b32", [0] * 32 + a[:32][::-1])])
            for count, text in (("", ""), (" 64,", "_count")):
                family.add(f"{tag}.red.popc.u32{text}", "true predicates of the block", f"{op}.red.popc{aligned}.u32 d, 1,{count} c;", [("d", "b32", [sum(c)] * BLOCK)])
                family.add(f"{tag}.red.popc.u32{text}_not", "of the negated predicate", f"{op}.red.popc{aligned}.u32 d, 1,{count} !c;", [("d", "b32", [BLOCK - sum(c)] * BLOCK)])
                family.add(f"{tag}.red.and_or.pred{text}", "all, any", f"{op}.red.and{aligned}.pred all, 1,{count} c;\n{op}.red.or{aligned}.pred any, 2,{count} c;\nselp.u32 d, 1, 0, all;\nselp.u32 e, 1, 0, any;",
                           [("d", "b32", [int(all(c))] * BLOCK), ("e", "b32", [int(any(c))] * BLOCK)])
    data = ["mem data b32: 5 -> 77", "mem flag b32: 0 -> 1", "reg .b32 q<2>;", "reg .pred first, other;"]
    # Warp 0 writes, fences and raises a flag; warp 1 waits for the flag, fences and reads.
    def message(before, after, scope):
        return (f"mov.u32 d, 0;\nsetp.eq.u32 first, tid_, 0;\nsetp.ne.u32 other, tid_, 32;\n@first bra W;\n@other bra E;\nL: ld.relaxed.{scope}.global.u32 q0, [flag];\n"
                f"setp.eq.u32 first, q0, 0;\n@first bra L;\n{after};\nld.global.u32 d, [data];\nbra E;\n"
                f"W: st.global.u32 [data], 77;\n{before};\nst.relaxed.{scope}.global.u32 [flag], 1;\nE:")
    with Family("fence_forms", SOURCE + ": a message passed from one warp to another", [("a", "b32", a)], data, "sm_90") as family:
        got = [("d", "b32", [77 if i == 32 else 0 for i in range(BLOCK)])]
        for level, scope in (("cta", "cta"), ("gl", "gpu"), ("sys", "sys")):
            family.add(f"membar.{level}", "orders data before flag", message(f"membar.{level}", f"membar.{level}", scope), got)
        for kind, scope in options(("", ".sc", ".acq_rel"), ("cta", "cluster", "gpu", "sys")):
            family.add(f"fence{kind}.{scope}", "orders data before flag", message(f"fence{kind}.{scope}", f"fence{kind}.{scope}", scope), got)
        # Without one of the two there is a race, whatever the flag's scope.
        for before, after, name in (("", "fence.acquire.gpu", "no_release"), ("fence.release.gpu", "", "no_acquire"), ("fence.acquire.gpu", "fence.release.gpu", "wrong_way")):
            family.add(f"left_out_{name}", "too little", message(before, after, "gpu").replace("\n;\n", "\n"), [], extra=["reg .b32 d;", "fault global-race"])
        for scope in ("cta", "cluster", "gpu", "sys"):
            family.add(f"fence.release_acquire.{scope}", "one direction each", message(f"fence.release.{scope}", f"fence.acquire.{scope}", scope), got)


def warps():
    r = random.Random(602)
    some = [int(i % 3 == 0 or i == 7) for i in range(32)]
    few = ([r.randrange(4) for _ in range(32)], [3] * 32)
    with Family("warp_forms", SOURCE, [("c", "pred", some)], ["reg .pred q;"]) as family:
        for values, tag in ((some, "some"), ([1] * 32, "every"), ([0] * 32, "none")):
            for op, f in (("all", lambda v: all(not x for x in v)), ("any", lambda v: any(not x for x in v)), ("uni", lambda v: len(set(v)) == 1)):
                family.add(f"vote.sync.{op}.pred_not_{tag}", "of the negated predicate", f"vote.sync.{op}.pred p, !v, 0xffffffff;", [("p", "pred", [int(f(values))] * 32)], [("v", "pred", values)])
        for w, column in options((32, 64), few):
            values = [x << (w - 4) | 1 for x in column]
            same = len(set(values)) == 1
            family.add(f"match.all.sync.b{w}_{int(same)}", "the mask when all agree", f"match.all.sync.b{w} d, v, 0xffffffff;", [("d", "b32", [0xFFFFFFFF * same] * 32)], [("v", f"b{w}", values)])
            family.add(f"match.all.sync.b{w}_pair_{int(same)}", "and whether they do", f"match.all.sync.b{w} d|q, v, 0xffffffff;\nselp.u32 e, 1, 0, q;",
                       [("d", "b32", [0xFFFFFFFF * same] * 32), ("e", "b32", [int(same)] * 32)], [("v", f"b{w}", values)])
        a = [r.getrandbits(32) for _ in range(32)]
        for mode, f in (("up", lambda i: i - 3 if i >= 3 else i), ("down", lambda i: i + 3 if i + 3 < 32 else i), ("bfly", lambda i: i ^ 5), ("idx", lambda i: 9)):
            step = {"up": 3, "down": 3, "bfly": 5, "idx": 9}[mode]
            family.add(f"shfl.sync.{mode}.b32", "without the predicate", f"shfl.sync.{mode}.b32 d, a, {step}, {0 if mode == 'up' else 31}, 0xffffffff;", [("d", "b32", [a[f(i)] for i in range(32)])],
                       [("a", "b32", a)])


SQUARE = "module .func (.param .b32 r) square(.param .b32 x) { .reg .b32 t; ld.param.b32 t, [x]; mul.lo.u32 t, t, t; st.param.b32 [r], t; ret.uni; }"
TWICE = "module .func (.param .b32 r) twice(.param .b32 x) { .reg .b32 t; ld.param.b32 t, [x]; add.u32 t, t, t; st.param.b32 [r], t; ret; }"


def control():
    n = list(range(20))
    square = [x * x for x in n]
    open_call, close = "{ .param .b32 x; .param .b32 r;\nst.param.b32 [x], a;\n", "\nld.param.b32 d, [r]; }"
    with Family("control_forms", SOURCE, [("a", "b32", n)], [SQUARE, TWICE, "module .global .align 4 .u32 counter[1] = {5};",
                                                             "module .func bump() { ret; }", "reg .b64 f;", "reg .pred q;"]) as family:
        family.add("bra.uni", "taken by all", "mov.u32 d, a;\nbra.uni L;\nL: add.u32 d, d, 1;", [("d", "b32", [x + 1 for x in n])])
        family.add("brx.idx.uni", "one entry of a table for all", "T: .branchtargets A, B;\nmov.u32 d, 1;\nbrx.idx.uni d, T;\nA: B: add.u32 d, d, 7;", [("d", "b32", [8] * 20)])
        family.add("call.uni", "by name", open_call + "call.uni (r), square, (x);" + close, [("d", "b32", square)])
        family.add("call", "by name", open_call + "call (r), square, (x);" + close, [("d", "b32", square)])
        family.add("call_nothing", "neither argument nor result", "call bump;\ncall.uni bump;\nmov.u32 d, a;", [("d", "b32", n)])
        for uni in ("", ".uni"):
            family.add(f"call{uni}_prototype", "through an address, with a prototype",
                       "mov.u64 f, square;\nP: .callprototype (.param .b32 _) _ (.param .b32 _);\n" + open_call + f"call{uni} (r), f, (x), P;" + close, [("d", "b32", square)])
            family.add(f"call{uni}_targets", "through an address, with a list of targets",
                       "mov.u64 f, twice;\nP: .calltargets square, twice;\n" + open_call + f"call{uni} (r), f, (x), P;" + close, [("d", "b32", [2 * x for x in n])])
        family.add("ret_uni_exit", "the end of a kernel", "mov.u32 d, a;\nsetp.ge.u32 q, a, 32;\n@!q bra E;\nE:", [("d", "b32", n)])


def stack():
    n = list(range(8))
    with Family("stack_forms", SOURCE, [("a", "b32", n)], ["reg .b32 w<6>;", "reg .b64 p<6>;", "reg .pred q;"]) as family:
        for t, p in (("u64", "p"), ("u32", "w")):
            size = f"mov.u32 w5, a;\nmad.lo.u32 w5, w5, 4, 16;\n" + ("cvt.u64.u32 p5, w5;\n" if t == "u64" else "")
            family.add(f"alloca.{t}", "memory of its own for each call, of a size that only the thread knows",
                       size + f"alloca.{t} {p}0, {p}5;\nalloca.{t} {p}1, 16;\nst.local.b32 [{p}0], a;\nst.local.b32 [{p}1], 99;\nst.local.b32 [{p}0+12], a;\n"
                       f"ld.local.b32 d, [{p}0];\nld.local.b32 e, [{p}0+12];\nld.local.b32 f, [{p}1];", [("d", "b32", n), ("e", "b32", n), ("f", "b32", [99] * 8)])
            family.add(f"alloca.{t}_align", "aligned as asked", f"alloca.{t} {p}0, 5;\nalloca.{t} {p}1, 5, 128;\nand.b{t[1:]} {p}2, {p}1, 127;\nand.b{t[1:]} {p}3, {p}0, 7;\n" +
                       (f"cvt.u32.u64 d, p2;\ncvt.u32.u64 e, p3;" if t == "u64" else "mov.u32 d, w2;\nmov.u32 e, w3;"), [("d", "b32", [0] * 8), ("e", "b32", [0] * 8)])
            family.add(f"stackrestore.{t}", "what was allocated since is given back: the next allocation lies where it lay",
                       f"stacksave.{t} {p}0;\nalloca.{t} {p}1, 64;\nstackrestore.{t} {p}0;\nalloca.{t} {p}2, 64;\nst.local.b32 [{p}2], a;\nld.local.b32 d, [{p}2];\n"
                       f"stacksave.{t} {p}3;\nstackrestore.{t} {p}0;\nsetp.eq.{t} q, {p}1, {p}2;\nselp.u32 e, 1, 0, q;\nsetp.eq.{t} q, {p}2, {p}3;\nselp.u32 f, 1, 0, q;",
                       [("d", "b32", n), ("e", "b32", [1] * 8), ("f", "b32", [1] * 8)])
        family.add("alloca_generic", "through a generic address, and by the callee of a call",
                   "alloca.u64 p0, 32;\ncvta.local.u64 p1, p0;\nst.b32 [p1+4], a;\n{ .param .b64 x; .param .b32 r;\nst.param.b64 [x], p1;\ncall.uni (r), reads, (x);\nld.param.b32 d, [r]; }\n"
                   "stacksave.u64 p2;\nsetp.eq.u64 q, p0, p2;\nselp.u32 e, 1, 0, q;", [("d", "b32", [x + 1 for x in n]), ("e", "b32", [1] * 8)],
                   extra=["module .func (.param .b32 r) reads(.param .b64 x) { .reg .b64 p<3>; .reg .b32 t<2>; ld.param.b64 p0, [x]; alloca.u64 p1, 48; st.local.b32 [p1], 1; "
                          "ld.b32 t0, [p0+4]; ld.local.b32 t1, [p1]; add.u32 t0, t0, t1; st.param.b32 [r], t0; ret; }"])
        family.add("alloca_overflow", "more than there is", "alloca.u64 p0, 0x100000;\nst.local.b32 [p0], a;", [], extra=["fault stack-overflow"])
        family.add("alloca_beyond", "behind the end of the stack", "alloca.u64 p0, 16;\nst.local.b32 [p0+16], a;", [], extra=["fault out-of-bounds"])
        family.add("alloca_given_back", "after it was given back", "stacksave.u64 p1;\nalloca.u64 p0, 16;\nstackrestore.u64 p1;\nst.local.b32 [p0], a;", [], extra=["fault out-of-bounds"])
        family.add("alloca_unwritten", "what nobody wrote", "alloca.u64 p0, 16;\nld.local.b32 w0, [p0];\nst.global.b32 [g], w0;", [], extra=["mem g b32: 1", "fault uninitialised-read"])


def registers():
    with Family("special_registers", SOURCE + "; what an implementation may choose is checked for its documented relations", [("a", "b32", list(range(64)))],
                ["reg .b32 q<8>;", "reg .b64 p<4>;", "reg .b16 h<4>;", "reg .pred t, u;"], "sm_80") as family:
        lane = list(range(32)) * 2
        zero, one = [0] * 64, [1] * 64
        check = lambda tests: "\n".join(tests) + "\nselp.u32 d, 1, 0, t;"
        for name, x in (("tid", list(range(64))), ("ntid", [64] * 64), ("ctaid", zero), ("nctaid", one)):
            other = one if name[0] == "n" else zero
            family.add(f"%{name}", "every component; the fourth is zero", f"mov.u32 d, %{name}.x;\nmov.u32 e, %{name}.y;\nmov.u32 f, %{name}.z;\nmov.u32 i, %{name}.w;",
                       [("d", "b32", x), ("e", "b32", other), ("f", "b32", other), ("i", "b32", zero)])
            family.add(f"%{name}_v4", "all at once", f"mov.v4.u32 {{d, e, f, i}}, %{name};", [("d", "b32", x), ("e", "b32", other), ("f", "b32", other), ("i", "b32", zero)])
            family.add(f"%{name}_u16", "the lower half, as of old", f"mov.u16 h0, %{name}.x;\ncvt.u32.u16 d, h0;\ncvt.u32.u16 e, %{name}.x;\ncvt.u64.u32 p0, %{name}.x;\ncvt.u32.u64 f, p0;",
                       [("d", "b32", x), ("e", "b32", x), ("f", "b32", x)])
        family.add("%laneid", "within the warp", "mov.u32 d, %laneid;", [("d", "b32", lane)])
        for name, f in (("eq", lambda i: 1 << i), ("lt", lambda i: (1 << i) - 1), ("le", lambda i: (2 << i) - 1), ("ge", lambda i: 0xFFFFFFFF ^ (1 << i) - 1), ("gt", lambda i: 0xFFFFFFFF ^ (2 << i) - 1)):
            family.add(f"%lanemask_{name}", "by the lane", f"mov.u32 d, %lanemask_{name};", [("d", "b32", [f(i) for i in lane])])
        # Below: equal in all threads, or within its range.
        family.add("%warpid", "below %nwarpid, one for all threads of a warp and another for the other warp",
                   "mov.u32 q0, %warpid;\nmov.u32 q1, %nwarpid;\nsetp.lt.u32 t, q0, q1;\nselp.u32 d, 1, 0, t;\nmatch.all.sync.b32 q2|u, q0, 0xffffffff;\nselp.u32 e, 1, 0, u;\n"
                   "st.shared.b32 [s], 0;\nbar.sync 0;\nsetp.lt.u32 t, a, 32;\n@t st.shared.b32 [s], q0;\nbar.sync 0;\nld.shared.b32 q3, [s];\nsetp.eq.u32 t, q0, q3;\nselp.u32 f, 1, 0, t;",
                   [("d", "b32", one), ("e", "b32", one), ("f", "b32", [1] * 32 + [0] * 32)], extra=["module .shared .align 4 .b8 s[4];"])
        family.add("%smid", "below %nsmid", check(["mov.u32 q0, %smid;", "mov.u32 q1, %nsmid;", "setp.lt.u32 t, q0, q1;"]), [("d", "b32", one)])
        family.add("%gridid", "the lower half is what 32 bits see", check(["mov.u64 p0, %gridid;", "mov.u32 q0, %gridid;", "cvt.u32.u64 q1, p0;", "setp.eq.u32 t, q0, q1;"]), [("d", "b32", one)])
        family.add("%clock", "never behind, also in 32 bits", check(["mov.u32 q0, %clock;", "mov.u64 p0, %clock64;", "mov.u32 q1, %clock_hi;", "mov.u64 p1, %clock64;", "cvt.u32.u64 q2, p0;",
                   "sub.u32 q3, q2, q0;", "setp.lt.u32 t, q3, 0x40000000;", "shr.u64 p2, p0, 32;", "cvt.u32.u64 q4, p2;", "shr.u64 p2, p1, 32;", "cvt.u32.u64 q5, p2;",
                   "setp.ge.and.u32 t, q1, q4, t;", "setp.le.and.u32 t, q1, q5, t;", "setp.gt.and.u64 t, p1, p0, t;"]), [("d", "b32", one)])
        family.add("%globaltimer", "never behind, also in halves", check(["mov.u64 p0, %globaltimer;", "mov.u32 q0, %globaltimer_lo;", "mov.u32 q1, %globaltimer_hi;", "mov.u64 p1, %globaltimer;",
                   "cvt.u32.u64 q2, p0;", "sub.u32 q3, q0, q2;", "setp.lt.u32 t, q3, 0x40000000;", "shr.u64 p2, p0, 32;", "cvt.u32.u64 q4, p2;", "shr.u64 p2, p1, 32;", "cvt.u32.u64 q5, p2;",
                   "setp.ge.and.u32 t, q1, q4, t;", "setp.le.and.u32 t, q1, q5, t;", "setp.ge.and.u64 t, p1, p0, t;"]), [("d", "b32", one)])
        family.add("%smem_size", "no dynamic shared memory, at least the static one", check(["mov.u32 q0, %dynamic_smem_size;", "mov.u32 q1, %total_smem_size;", "mov.u32 q2, s;", "setp.eq.u32 t, q0, 0;",
                   "setp.ge.and.u32 t, q1, 48, t;"]), [("d", "b32", one)], extra=["module .shared .align 4 .b8 s[48];"])
        family.add("%aggr_smem_size", "what the block has and what the system keeps, whose bounds and size are readable", check([
                   "mov.u32 q0, %aggr_smem_size;", "mov.u32 q1, %total_smem_size;", "mov.u32 q2, %reserved_smem_offset_begin;", "mov.u32 q3, %reserved_smem_offset_end;",
                   "mov.u32 q4, %reserved_smem_offset_cap;", "sub.u32 q5, q0, q1;", "setp.eq.u32 t, q5, q4;", "sub.u32 q5, q3, q2;", "setp.eq.and.u32 t, q5, q4, t;",
                   "mov.u32 q6, %reserved_smem_offset_0;", "setp.ge.and.u32 t, q6, q2, t;", "setp.lt.and.u32 t, q6, q3, t;", "mov.u32 q6, %reserved_smem_offset_1;",
                   "setp.ge.and.u32 t, q6, q2, t;", "setp.lt.and.u32 t, q6, q3, t;"]), [("d", "b32", one)], extra=["module .shared .align 4 .b8 s[48];"], target="sm_90")
        family.add("%envreg", "readable in either type", "mov.b32 q0, %envreg0;\nmov.u32 q1, %envreg31;\nsub.u32 q0, q0, q0;\nadd.u32 d, q0, 1;", [("d", "b32", one)])
        family.add("%pm", "readable, undefined; the lower half of the 64 bits is the same counter", "mov.u32 q0, %pm0;\nmov.u64 p0, %pm7_64;\nsub.u32 q0, q0, q0;\nadd.u32 d, q0, 1;", [("d", "b32", one)])
        family.add("%current_graph_exec", "zero outside a device graph", check(["mov.u64 p0, %current_graph_exec;", "setp.eq.u64 t, p0, 0;"]), [("d", "b32", one)])


def miscellaneous():
    a = [3, 4]
    with Family("miscellaneous_forms", "the ISA's text: no effect on values", [("a", "b32", a)]) as family:
        for op in ("nanosleep.u32 20", "nanosleep.u32 a", "pmevent 3", "pmevent.mask 0xff"):
            family.add(op.replace(" ", "_"), "the thread goes on", f"{op};\nmov.u32 d, a;", [("d", "b32", a)])
        for op in ("griddepcontrol.launch_dependents", "griddepcontrol.wait"):
            family.add(op, "of a launch without dependents", f"{op};\nmov.u32 d, a;", [("d", "b32", a)], target="sm_90")


def write_all():
    barriers()
    warps()
    control()
    stack()
    registers()
    miscellaneous()
