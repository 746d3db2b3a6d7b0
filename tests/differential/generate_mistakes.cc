// Things that are wrong, for the diagnostics.
#include "tests/differential/program_generator.h"

namespace emulator::differential {

void Generator::mistake() {
    const std::string skip = label();
    const bool some = random_.one_in(2);
    const bool was = uniform_;
    if (some) {
        line("setp.ne.u32 %q, %lane, {};", random_.below(32));
        line("@%q bra {};", skip);
        uniform_ = false;
    }
    switch (random_.below(25)) {
        case 18:  // a copy that nobody waits for
            line("cp.async.ca.shared.global [%sown], [%in+{}], 8;", 8 * random_.below(16));
            if (random_.one_in(2)) line("cp.async.commit_group;");
            line("ld.shared.u32 {}, [%sown+{}];", r(), 4 * random_.below(3));
            break;
        case 19:
            line("cp.async.ca.shared.global [%sown+{}], [%in+{}], 4;", random_.one_in(2) ? 2 : 4,
                 random_.one_in(2) ? kInputBytes : 4 + random_.below(2));
            break;
        case 20:
            line("mbarrier.{}.shared.b64 %b, [%counters+{}];", expand("{arrive|arrive_drop}"),
                 random_.one_in(2) ? 256 : 260);
            break;
        case 21:
            line("mbarrier.init.shared.b64 [%counters+272], {};", random_.one_in(4) ? 0 : 2);
            if (random_.one_in(2)) line("st.shared.u32 [%counters+272], {};", r());
            line("mbarrier.arrive.shared.b64 %b, [%counters+272], {};", 1 + random_.below(3));
            break;
        case 22:
            line("mov.b128 %x0, {{%d0, %d1}};");
            line("atom.shared.exch.b128 %x0, [%sown+8], %x0;");
            break;
        case 23:
            line("{}.sync {}, {};", expand("{bar|barrier}"), expand("{3|16}"), expand("{33|64|32}"));
            break;
        case 24:
            line("mov.u32 %t1, {};", r());
            put("    TX: .branchtargets " + skip + ", " + skip + ";");
            line("brx.idx %t1, TX;");
            break;
        case 16:  // far below the memory that it means
            line("add.s64 %a, %loc, {};", -4 * static_cast<int>(1 + random_.below(3)));
            if (random_.one_in(2))
                line("cvta.local.u64 %a, %a;");
            else
                line("selp.b64 %a, %a, %loc, %p0;");
            line("ld{}.b32 {}, [%a];",
                 program_.lines.back().find("cvta") != std::string::npos ? "" : ".local", r());
            break;
        case 17:
            line("cvt.u64.u32 %a, %lane;");
            line("mad.lo.s64 %a, %a, 4, {};", -4 * static_cast<int>(random_.below(12)));
            line("{}", expand("{ld.shared.u32 %r1, [%a];|st.shared.u32 [%a], %r1;|ld.global.u32 %r1, [%a];|"
                              "atom.shared.add.u32 %r1, [%a], %r2;}"));
            break;
        case 0:
            line("ld.global.u32 {}, [%in+{}];", r(), random_.one_in(2) ? kInputBytes : 1 + random_.below(3));
            break;
        case 1:
            line("st.global.u32 [%in+16], {};", r());
            break;
        case 2:
            line("st.shared.b64 [%sown+4], {};", d());
            break;
        case 3:
            line("ld.shared.u32 {}, [%shared+{}];", r(), 6144 + 4 * random_.below(8));
            break;
        case 4:
            line("ld.local.b32 {}, [local_bytes+{}];", r(), 64 + 4 * random_.below(8));
            break;
        case 5:
            line("st.global.u32 [%zero64+8], {};", r());
            break;
        case 6:  // nobody wrote it
            line("ld.shared.u32 {}, [%shared+5000];", "%r0");
            line("ld.global.b64 {}, [%scratch+{}];", "%d0", 8 * random_.below(64));
            line("ld.local.b16 {}, [local_bytes+60];", "%h0");
            for (std::uint64_t k = random_.below(6); k > 0; --k) compute();
            break;
        case 7:
            line("mov.b32 %r1, %never;");
            line("setp.eq.u32 %p0, %never, 3;");
            for (std::uint64_t k = random_.below(4); k > 0; --k) compute();
            line("@%p0 add.u32 %r2, %r2, 1;");
            break;
        case 8:  // a race
            line("st.shared.u32 [%counters+96], {};", r());
            line("ld.shared.u32 {}, [%counters+96];", r());
            break;
        case 9:
            line("st.global.u32 [%scratch+512], {};", random_.one_in(2) ? "%lane" : r());
            break;
        case 10:
            line("st.global.u32 [%scratch+520], {};", r());
            line("bar.warp.sync 0xffffffff;");
            line("ld.global.u32 {}, [%scratch+520];", r());
            break;
        case 11:
            line("bar.sync 0;");
            break;
        case 12:
            line("shfl.sync.idx.b32 {}, {}, 0, 0x1f, 0x{:x};", r(), r(), random_.next() & 0xffffffff);
            break;
        case 13:
            line("trap;");
            break;
        case 14:
            line("ld.global.u32 {}, [%scratch+{}];", "%t1", 4 * random_.below(64));
            line("and.b32 %t1, %t1, 0x{:x};", random_.one_in(2) ? 0 : 60);
            line("cvt.u64.u32 %a, %t1;");
            line("add.u64 %a, %in, %a;");
            line("ld.global.u32 {}, [%a];", r());
            break;
        default:
            line("ld.shared.u8 %t1, [%counters+128];");
            line("st.local.b32 [local_bytes+8], %t1;");
            line("ld.local.v2.b16 {{%h0, %h1}}, [local_bytes+8];");
            line("st.shared.b16 [%sown+2], %h1;");
            line("ld.shared.b32 %r4, [%sown];");
            break;
    }
    put(skip + ":");
    uniform_ = was;
}

}  // namespace emulator::differential
