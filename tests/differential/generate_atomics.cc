// Atomics, and what programs build with them.
#include "tests/differential/program_generator.h"

namespace emulator::differential {

void Generator::atomic() {
    static const std::vector<std::pair<const char*, char>> forms = {{"add.{u32|s32}", 'r'},
                                                                    {"{min|max}.{u32|s32}", 'r'},
                                                                    {"{and|or|xor}.b32", 'r'},
                                                                    {"exch.b32", 'r'},
                                                                    {"{inc|dec}.u32", 'r'},
                                                                    {"add.f32", 'r'},
                                                                    {"add.noftz.f16x2", 'r'},
                                                                    {"add.noftz.bf16x2", 'r'},
                                                                    {"add.u64", 'd'},
                                                                    {"{min|max}.{u64|s64}", 'd'},
                                                                    {"{and|or|xor}.b64", 'd'},
                                                                    {"exch.b64", 'd'},
                                                                    {"add.f64", 'd'},
                                                                    {"cas.b32", 'c'},
                                                                    {"cas.b64", 'C'},
                                                                    {"add.noftz.f16", 'h'},
                                                                    {"cas.b16", 'k'},
                                                                    {"add.noftz.bf16", 'h'},
                                                                    {"{min|max}.noftz.{f16|bf16}", 'h'},
                                                                    {"{min|max}.noftz.{f16x2|bf16x2}", 'r'}};
    const auto& [pattern, kind] = random_.pick(forms);
    const std::string operation = expand(pattern);
    const char k = kind == 'c' ? 'r' : kind == 'C' ? 'd' : kind == 'k' ? 'h' : kind;
    const bool cas = kind == 'c' || kind == 'C' || kind == 'k';
    const unsigned bytes = k == 'd' ? 8 : k == 'h' ? 2 : 4;
    const bool in_shared = random_.one_in(3);
    const std::string scope = expand(
        "{|.relaxed.gpu|.relaxed.cta|.gpu|.acq_rel.gpu|.sys|.cta|.cluster|.acquire.gpu|.release.gpu|.acq_rel."
        "sys|"
        ".acq_rel.cta|.relaxed.sys|.relaxed.cluster}");
    if (random_.one_in(6)) return atomic_of_vector();
    std::string place;
    if (in_shared) {
        line("and.b32 %t0, {}, 0x{:x};", random_.one_in(3) ? "%zero" : r(),
             (kSharedCounters - 1) & ~(bytes - 1ull));
        line("add.u32 %t0, %t0, %counters;");
        place = "[%t0]";
    } else {
        address_in("%shared_io", kSharedCounters, bytes);
        place = "[%a]";
    }
    std::string values = registers(k, 1, false);
    if (cas) values += ", " + registers(k, 1, false);
    const std::string space = in_shared ? ".shared" : random_.one_in(3) ? "" : ".global";
    const bool reduces = !cas && operation.find("exch") == std::string::npos && random_.one_in(3);
    if (reduces)
        line("{}red{}{}.{} {}, {};", guard(), scope.find("acq") != std::string::npos ? "" : scope, space,
             operation, place, values);
    else
        line("{}atom{}{}.{} {}, {}, {};", guard(), scope, space, operation, registers(k, 1, true), place,
             values);
}

// Global memory only.
void Generator::atomic_of_vector() {
    struct VectorForm {
        const char* name;
        unsigned elements;
        char kind;
    };
    static const std::vector<VectorForm> forms = {{"add.v2.f32", 2, 'r'},
                                                  {"add.v4.f32", 4, 'r'},
                                                  {"{add|min|max}.noftz.v2.{f16|bf16}", 2, 'h'},
                                                  {"{add|min|max}.noftz.v4.{f16|bf16}", 4, 'h'},
                                                  {"{add|min|max}.noftz.v2.{f16x2|bf16x2}", 2, 'r'},
                                                  {"{add|min|max}.noftz.v4.{f16x2|bf16x2}", 4, 'r'}};
    const VectorForm& form = random_.pick(forms);
    const std::string operation = expand(form.name);
    const unsigned n = form.elements;
    address_in("%shared_io", kSharedCounters, n * (form.kind == 'h' ? 2 : 4));
    if (random_.one_in(2))
        line("{}red{}.global.{} [%a], {};", guard(), expand("{|.relaxed.gpu|.relaxed.sys}"), operation,
             registers(form.kind, n, false));
    else
        line("{}atom{}.global.{} {}, [%a], {};", guard(), expand("{|.relaxed.gpu|.cta}"), operation,
             registers(form.kind, n, true), registers(form.kind, n, false));
}

void Generator::add_by_compare_and_swap() {
    const std::string again = label();
    line("ld.global.u32 %t1, [%shared_io+{}];", 4 * random_.below(4));
    put(again + ":");
    line("mov.b32 %t2, %t1;");
    line("add.u32 %t3, %t2, {};", operand('r'));
    line("atom.global.cas.b32 %t1, [%shared_io], %t2, %t3;");
    line("setp.ne.u32 %q, %t1, %t2;");
    line("add.u32 %c4, %c4, 1;");
    line("setp.lt.and.u32 %q, %c4, 40, %q;");
    line("@%q bra {};", again);
}

void Generator::last_block() {
    const std::string skip = label();
    line("st.global.u32 [%own+252], {};", r());
    line("membar.gl;");
    line("bar.sync 0;");
    line("setp.ne.u32 %q, %t, 0;");
    line("@%q bra {};", skip);
    line("membar.gl;");
    line("atom.global.add.u32 %t1, [%ticket], 1;");
    line("st.shared.u32 [%counters+{}], %t1;", kSharedCounters);
    put(skip + ":");
    line("bar.sync 0;");
    line("ld.shared.u32 %t1, [%counters+{}];", kSharedCounters);
    const std::string end = label();
    line("add.u32 %t1, %t1, 1;");
    line("setp.ne.u32 %q, %t1, %blocks;");
    line("@%q bra {};", end);
    line("membar.gl;");
    line("mad.lo.u32 %t2, %t, {}, 0;", kPerThread);
    line("cvt.u64.u32 %a, %t2;");
    line("add.u64 %a, %out, %a;");
    line("ld.global.u32 {}, [%a+252];", r());
    put(end + ":");
}

}  // namespace emulator::differential
