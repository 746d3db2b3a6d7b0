// Loads and stores in every space.
#include "tests/differential/program_generator.h"

namespace emulator::differential {

const Generator::Access& Generator::element() {
    static const std::vector<Access> all = {
        {"u8", 1, 'r'},  {"s8", 1, 'r'},  {"b8", 1, 'h'},  {"u16", 2, 'h'}, {"s16", 2, 'r'}, {"b16", 2, 'h'},
        {"u32", 4, 'r'}, {"s32", 4, 'd'}, {"b32", 4, 'r'}, {"f32", 4, 'r'}, {"u64", 8, 'd'}, {"b64", 8, 'd'},
        {"f64", 8, 'd'}, {"u32", 4, 'r'}, {"s8", 1, 'h'},  {"s8", 1, 'd'},  {"u16", 2, 'd'}};
    return random_.pick(all);
}

std::string Generator::registers(char kind, unsigned n, bool write) {
    if (n == 1) return write ? destination(kind) : kind == 'r' ? r() : kind == 'd' ? d() : h();
    std::string text = "{";
    const unsigned limit = kind == 'r' ? 10 : 6;
    const std::uint64_t first = random_.below(limit);
    for (unsigned k = 0; k < n; ++k) text += fmt::format("{}%{}{}", k ? ", " : "", kind, (first + k) % limit);
    return text + "}";
}

unsigned Generator::vector_of(unsigned bytes) {
    const unsigned n = 1u << random_.below(3);
    return n * bytes > 16 ? 1 : n;
}

void Generator::address_in(const std::string& base, std::uint64_t span, unsigned bytes) {
    line("and.b32 %t0, {}, 0x{:x};", random_.one_in(3) ? "%lane" : r(),
         (span - 1) & ~std::uint64_t{bytes - 1});
    if (random_.one_in(3)) {  // neighbours
        line("mul.lo.u32 %t0, %lane, {};", bytes);
        line("and.b32 %t0, %t0, 0x{:x};", (span - 1) & ~std::uint64_t{bytes - 1});
    }
    line("cvt.u64.u32 %a, %t0;");
    line("add.u64 %a, {}, %a;", base);
}

void Generator::load_input() {
    const Access& e = element();
    const unsigned n = vector_of(e.bytes);
    address_in("%in", kInputBytes, e.bytes * n);
    line("{}ld{}{}.{} {}, [%a];", guard(),
         expand("{.global|.global|.global.nc|.global.ca|.global.cg|.volatile.global|.relaxed.gpu.global||"
                ".global.L1::evict_first|.global.L1::no_allocate.L2::128B|.relaxed.sys.global|.acquire.gpu."
                "global|"
                ".weak.global|.global.cv|.global.lu|.global.cs|.global.nc.L1::evict_last|.volatile|.acquire."
                "cta}"),
         suffix(n), e.type, registers(e.kind, n, true));
}

void Generator::own_output() {
    const Access& e = element();
    const unsigned n = vector_of(e.bytes);
    const std::uint64_t at = random_.below(96 / (e.bytes * n)) * e.bytes * n;
    if (random_.one_in(3))
        line("{}ld{}{}.{} {}, [%own+{}];", guard(), expand("{.global|}"), suffix(n), e.type,
             registers(e.kind, n, true), at);
    else
        line("{}st{}{}.{} [%own+{}], {};", guard(), expand("{.global|.global.wb|.global.cs|}"), suffix(n),
             e.type, at, registers(e.kind, n, false));
}

void Generator::shared_own() {
    const Access& e = element();
    const unsigned n = vector_of(e.bytes);
    const std::uint64_t at = random_.below(32 / (e.bytes * n)) * e.bytes * n;
    const bool generic = random_.one_in(4);
    const std::string base = generic ? "%sgen" : "%sown";
    line("{}st{}{}.{} [{}+{}], {};", guard(), generic ? "" : ".shared", suffix(n), e.type, base, at,
         registers(e.kind, n, false));
    if (random_.one_in(2))
        line("{}ld{}{}.{} {}, [{}+{}];", guard(), generic ? "" : ".shared", suffix(n), e.type,
             registers(e.kind, n, true), base, at);
}

void Generator::local_memory() {
    const Access& e = element();
    const unsigned n = vector_of(e.bytes);
    const std::uint64_t at = random_.below(64 / (e.bytes * n)) * e.bytes * n;
    if (random_.one_in(2)) {
        line("{}st.local{}.{} [local_bytes+{}], {};", guard(), suffix(n), e.type, at,
             registers(e.kind, n, false));
        line("{}ld.local{}.{} {}, [local_bytes+{}];", guard(), suffix(n), e.type, registers(e.kind, n, true),
             at);
    } else {
        line("and.b32 %t0, {}, 0x{:x};", r(), 63 & ~(e.bytes - 1));
        line("cvt.u64.u32 %a, %t0;");
        line("add.u64 %a, %loc, %a;");
        line("st{}.{} [%a], {};", random_.one_in(2) ? ".local" : "", e.type, registers(e.kind, 1, false));
        if (random_.one_in(2)) line("ld.local.{} {}, [%loc+{}];", e.type, registers(e.kind, 1, true), at);
    }
    if (!random_.one_in(2)) return;
    line("ld.local.b32 {}, [local_bytes+{}];", r(), random_.below(16) * 4);
}

void Generator::constant_memory() {
    line("and.b32 %t0, {}, 28;", r());
    line("cvt.u64.u32 %a, %t0;");
    line("mov.u64 {}, table;", "%b");
    line("add.u64 %a, %a, %b;");
    line("{}ld.const.b32 {}, [%a];", guard(), r());
    if (random_.one_in(3)) line("ld.const.v2.u32 {}, [table+8];", registers('r', 2, true));
    if (random_.one_in(3)) line("ld.global.u32 {}, [device_words+{}];", r(), 4 * random_.below(8));
}

void Generator::several_memories() {
    condition();
    const std::string one = expand("{%own|%sgen}"), other = expand("{%own|%sgen|%in}");
    const bool written = other != "%in";
    line("selp.b64 %a, {}, {}, %q;", one, other);
    switch (random_.below(3)) {
        case 0:
            line("ld.u32 {}, [%a+{}];", r(), 4 * random_.below(4));
            break;
        case 1:
            if (written)
                line("st.v2.b32 [%a+8], {};", registers('r', 2, false));
            else
                line("ld.v2.b32 {}, [%a+8];", registers('r', 2, true));
            break;
        default:
            line("selp.b64 %a, %shared_io, {}, %q;", one);
            line("atom.{}.u32 {}, [%a+4], {};", expand("{add|max|xor|exch}"), r(), r());
            break;
    }
}

void Generator::wide_register() {  // 128 bits through memory
    line("mov.b128 %x0, {{{}, {}}};", d(), d());
    if (random_.one_in(2)) {
        const std::string place = expand("{%own+16|%own+32|%sgen}");
        const bool generic = place == "%sgen";
        line("st{}.b128 [{}], %x0;", generic ? "" : expand("{.global|}"), place);
        line("ld{}.b128 %x1, [{}];", generic ? "" : expand("{.global|}"), place);
    } else {
        line("st.shared.b128 [%sown], %x0;");
        if (random_.one_in(2))
            line("atom.shared.exch.b128 %x1, [%sown], %x0;");
        else
            line("atom.shared.cas.b128 %x1, [%sown], %x0, %x0;");
    }
    line("mov.b128 {{%d2, %d3}}, %x1;");
}

void Generator::hints() {
    line("createpolicy.fractional.L2::{}.b64 %b;", expand("{evict_last|evict_first|evict_normal}"));
    line("ld.global.L2::cache_hint.v2.b32 {}, [%in+{}], %b;", registers('r', 2, true), 8 * random_.below(64));
    line("st.global.L2::cache_hint.b32 [%own+{}], {}, %b;", 4 * random_.below(16), r());
    const std::string hint = expand(
        "{prefetch.global.L1|prefetch.L2|prefetchu.L1|discard.global.L2|applypriority.global.L2::evict_"
        "normal}");
    line("{} [%in+256]{};", hint, hint[0] == 'd' || hint[0] == 'a' ? ", 128" : "");
}

void Generator::strong_traffic() {
    const bool shared = random_.one_in(2);
    const char* const space = shared ? "shared" : "global";
    const char* const base = shared ? "%sown" : "%own";
    line("{}st.volatile.{}.u32 [{}+{}], {};", guard(), space, base, 4 * random_.below(8), r());
    line("{};", expand("{membar.cta|membar.gl|membar.sys|fence.acq_rel.cta|fence.acq_rel.gpu|fence.sc.gpu|"
                       "fence.sc.cta|fence.sc.sys|fence.acq_rel.sys|fence.acq_rel.cluster|fence.acquire.cta|"
                       "fence.release.gpu|fence.acquire.sys|fence.release.cluster|fence.proxy.async|fence."
                       "proxy.alias}"));
    line("ld.volatile.{}.u32 {}, [{}+{}];", space, r(), base, 4 * random_.below(8));
}

}  // namespace emulator::differential
