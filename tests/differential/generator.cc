#include "tests/differential/generator.h"

#include <cstring>

#include "tests/differential/program_generator.h"

namespace emulator::differential {

std::uint64_t Random::next() {
    state_ += 0x9e3779b97f4a7c15ull;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

std::string Program::text() const {
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    return all;
}

const std::vector<std::uint32_t>& special_words() {
    static const std::vector<std::uint32_t> all = {
        0,          1,          2,          7,          31,         32,         33,         63,
        64,         255,        256,        0x7fff,     0x8000,     0xffff,     0x7fffffff, 0x80000000,
        0xffffffff, 0xfffffffe, 0x3f800000, 0xbf800000, 0x40490fdb, 0x7f800000, 0xff800000, 0x7fc00000,
        0xffc00001, 0x7f800001, 0x7fffffff, 0x00800000, 0x007fffff, 0x00000001, 0x80000001, 0x80000000,
        0x7f7fffff, 0xff7fffff, 0x3f7fffff, 0x34000000, 0x3c003c00, 0x7c00fc00, 0x7e017dff, 0x04000001,
        0x83ff0001, 0x7bff8000, 0x3f803f80, 0x7f80ff80, 0x7fc1ffbf, 0x4b000001, 0x4f000000, 0xcf000000,
        0x5f000000, 0x47800000, 0x477fe000, 0x477ff000, 0x33000000, 0x38800000};
    return all;
}
const std::vector<std::uint64_t>& special_doubles() {
    static const std::vector<std::uint64_t> all = {0,
                                                   0x8000000000000000,
                                                   0x3ff0000000000000,
                                                   0xbff0000000000000,
                                                   0x7ff0000000000000,
                                                   0xfff0000000000000,
                                                   0x7ff8000000000000,
                                                   0xfff8000000000123,
                                                   0x7ff0000000000001,
                                                   0x7fffffffffffffff,
                                                   1,
                                                   0x000fffffffffffff,
                                                   0x0010000000000000,
                                                   0x7fefffffffffffff,
                                                   0xffefffffffffffff,
                                                   0x3fefffffffffffff,
                                                   0x3ff0000000000001,
                                                   0x43e0000000000000,
                                                   0xc3e0000000000000,
                                                   0x43f0000000000000,
                                                   0x41dfffffffc00000,
                                                   0x41e0000000000000,
                                                   0x36a0000000000000,
                                                   0x47efffffe0000000,
                                                   0x47effffff0000000,
                                                   0x380fffffc0000000,
                                                   0x3690000000000001,
                                                   0x40effc0000000000,
                                                   0x3fe0000000000000,
                                                   0x3ff8000000000000,
                                                   0xc004000000000000,
                                                   0x8000000000000001};
    return all;
}

Program Generator::run() {
    program_.seed = seed_;
    static const std::vector<Dim3> blocks = {{32, 1, 1}, {32, 1, 1}, {64, 1, 1}, {48, 1, 1}, {17, 1, 1},
                                             {8, 8, 1},  {16, 3, 1}, {96, 1, 1}, {4, 4, 3},  {33, 1, 1}};
    program_.block = random_.pick(blocks);
    program_.grid = random_.one_in(3) ? Dim3{static_cast<std::uint32_t>(1 + random_.below(3)), 1, 1}
                                      : Dim3{1, random_.one_in(4) ? 2u : 1u, 1};
    lines_loc_ = random_.one_in(4);
    wrong_ = random_.one_in(4);
    has_exits_ = random_.one_in(2);
    functions_ = random_.one_in(3) ? 1 + static_cast<int>(random_.below(2)) : 0;
    put(".version 8.6");
    put(".target sm_90");
    put(".address_size 64");
    if (lines_loc_) put(".file 1 \"generated.cu\"");
    put(".const .align 8 .b32 table[8] = {1, 2, 0x80000000, 0xffffffff, 0x3f800000, 7, 0x7fc00000, 31};");
    put(".global .align 8 .b32 device_words[8] = {3, 5, 0x7fffffff, 9};");
    put(".shared .align 16 .b8 shared_bytes[6144];");
    for (int f = 0; f < functions_; ++f) function(f);
    kernel();
    return std::move(program_);
}

std::string Generator::expand(const std::string& pattern) {
    std::string out;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '{') {
            out += pattern[i];
            continue;
        }
        const std::size_t end = pattern.find('}', i);
        std::vector<std::string> choices(1);
        for (std::size_t k = i + 1; k < end; ++k) {
            if (pattern[k] == '|')
                choices.emplace_back();
            else
                choices.back() += pattern[k];
        }
        out += random_.pick(choices);
        i = end;
    }
    return out;
}

std::string Generator::word() {
    const std::uint32_t w =
        random_.one_in(3) ? static_cast<std::uint32_t>(random_.next()) : random_.pick(special_words());
    return random_.one_in(3) ? fmt::format("{}", w & 63) : fmt::format("0x{:x}", w);
}

std::string Generator::operand(char kind) {
    const bool literal = random_.one_in(5);
    switch (kind) {
        case 'r':
            return literal ? word() : r();
        case 'f':
            return literal ? fmt::format("0f{:08X}", random_.pick(special_words())) : r();
        case 'x':
            return r();
        case 'd':
            return literal ? fmt::format("0x{:x}", random_.pick(special_doubles())) : d();
        case 'g':
            return literal ? fmt::format("0d{:016X}", random_.pick(special_doubles())) : d();
        case 'z':
            return d();
        case 'h':
            return literal ? fmt::format("0x{:x}", random_.pick(special_words()) & 0xffff) : h();
        case 'y':
            return h();
        case 'p':
            return (random_.one_in(4) ? "!" : "") + p();
        case 'i':
            return fmt::format("{}", random_.below(256));
        default:
            return "?";
    }
}

std::string Generator::destination(char kind) {
    return kind == 'd' ? d() : kind == 'h' ? h() : kind == 'p' ? p() : r();
}

std::string Generator::guard() {
    if (!random_.one_in(8)) return "";
    return (random_.one_in(2) ? "@" : "@!") + p() + " ";
}

void Generator::statement(int depth) {
    if (lines_loc_ && random_.one_in(4)) line(".loc 1 {} 1", 10 + source_line_++);
    const std::uint64_t kind = random_.below(100);
    if (kind < 40) return compute();
    if (kind < 47) return compare();
    if (kind < 49) return carry_chain();
    if (kind < 53) return rearrange();
    if (kind < 55) return video();
    if (in_function_ && function_ > 0 && random_.one_in(8)) return call_function();
    if (in_function_)
        return depth < 2 && kind < 70 ? branch(depth) : depth < 2 && kind < 75 ? loop(depth) : compute();
    if (kind < 58) return load_input();
    if (kind < 61) return own_output();
    if (kind < 64) return shared_own();
    if (kind < 66) return local_memory();
    if (kind < 68) return constant_memory();
    if (kind < 70) return atomic();
    if (kind < 71) return several_memories();
    if (kind < 72) {
        switch (random_.below(4)) {
            case 0:
                return strong_traffic();
            case 1:
                return wide_register();
            case 2:
                return hints();
            default:
                return copies();
        }
    }
    if (kind < 77) return collective();
    if (kind < 79) return !uniform_ ? collective() : random_.one_in(2) ? matrix() : exchange();
    if (kind < 81) {
        if (!uniform_) return random_.one_in(2) ? collective() : copies();
        switch (random_.below(8)) {
            case 0:
                return reduction_barrier();
            case 4:
            case 5:
                return matrix();
            case 1:
                return producer();
            case 2:
                return partial();
            case 3:
                return message();
            default:
                return phases();
        }
    }
    if (kind < 82)
        return uniform_ && depth == 0 && !used_ticket_ ? (used_ticket_ = true, last_block()) : compute();
    if (kind < 83) return random_.one_in(2) ? add_by_compare_and_swap() : compute();
    if (functions_ && kind < 86) return call_function();
    if (depth < 3) {
        if (kind < 92) return branch(depth);
        if (kind < 96) return loop(depth);
        if (kind < 98) return ladder(depth);
        if (kind < 99 && depth > 0 && !uniform_) {
            if (!has_exits_) return compute();
            condition();
            line("@%q {};", random_.one_in(2) ? "exit" : "ret");
            return;
        }
    }
    return compute();
}

void Generator::body(int depth, std::uint64_t statements) {
    for (std::uint64_t k = 0; k < statements && program_.lines.size() < 420; ++k) statement(depth);
}

void Generator::registers_declared() {
    line(".reg .b32 %r<10>;");
    line(".reg .b64 %d<6>;");
    line(".reg .b16 %h<6>;");
    line(".reg .pred %p<5>;");
    line(
        ".reg .b32 %t, %n, %lane, %zero, %t0, %t1, %t2, %t3, %c0, %c1, %c2, %c3, %c4, %m, %never, "
        "%blocks;");
    line(".reg .b64 %a, %b;");
    line(".reg .b128 %x<2>;");
    line(".reg .b8 %y0;");
    line(".reg .pred %q, %always;");
}

void Generator::function(int number) {
    in_function_ = true;
    function_ = number;
    uniform_ = false;
    put(fmt::format(".func (.param .b32 result) f{}(.param .b32 first, .param .align 8 .b8 second[8])",
                    number));
    put("{");
    registers_declared();
    line("ld.param.b32 %r0, [first];");
    line("ld.param.b64 %d0, [second];");
    line("mov.u32 %lane, %laneid;");
    for (int k = 1; k < 10; ++k) line("add.u32 %r{}, %r{}, 0x{:x};", k, k - 1, random_.pick(special_words()));
    for (int k = 1; k < 6; ++k)
        line("xor.b64 %d{}, %d{}, 0x{:x};", k, k - 1, random_.pick(special_doubles()));
    for (int k = 0; k < 6; ++k) line("cvt.u16.u32 %h{0}, %r{0};", k);
    for (int k = 0; k < 5; ++k) line("setp.{}.s32 %p{}, %r{}, 0;", expand("{lt|gt|ne}"), k, k);
    body(0, 3 + random_.below(6));
    if (random_.one_in(3)) {
        condition();
        line("st.param.b32 [result], {};", r());
        line("@%q ret;");
    }
    line("st.param.b32 [result], {};", r());
    line("ret;");
    put("}");
    in_function_ = false;
}

void Generator::kernel() {
    uniform_ = true;
    put(".visible .entry k(.param .u64 p_in, .param .u64 p_out, .param .u64 p_io, .param .u64 p_scratch, "
        ".param .u32 p_word, .param .u64 p_wide)");
    put("{");
    registers_declared();
    line(".reg .b64 %in, %out, %io, %scratch, %own, %shared_io, %ticket, %sgen, %loc, %zero64;");
    line(".reg .b32 %shared, %sown, %counters;");
    line(".local .align 16 .b8 local_bytes[64];");
    for (const char* name : {"in", "out", "io", "scratch"}) {
        line("ld.param.u64 %{0}, [p_{0}];", name);
        if (random_.one_in(2)) line("cvta.to.global.u64 %{0}, %{0};", name);
    }
    line("mov.u32 %t, %tid.x;");
    line("mov.u32 %t0, %tid.y;");
    line("mov.u32 %t1, %tid.z;");
    line("mad.lo.u32 %t, %t0, {}, %t;", program_.block.x);
    line("mad.lo.u32 %t, %t1, {}, %t;", program_.block.x * program_.block.y);
    line("mov.u32 %n, {};", program_.block.count());
    line("mov.u32 %lane, %laneid;");
    line("mov.u32 %zero, 0;");
    line("mov.u64 %zero64, 0;");
    line("mov.u32 %blocks, {};", program_.grid.count());
    line("mov.u32 %t0, %ctaid.x;");
    line("mov.u32 %t1, %ctaid.y;");
    line("mad.lo.u32 %t0, %t1, {}, %t0;", program_.grid.x);
    line("mad.lo.u32 %t0, %t0, %n, %t;");
    line("mul.wide.u32 %own, %t0, {};", kPerThread);
    line("and.b32 %t0, %t0, 31;");
    line("mul.wide.u32 %a, %t0, 128;");
    line("add.u64 %own, %own, %out;");
    line("add.u64 %a, %a, %in;");
    line("mov.u64 %shared_io, %io;");
    line("add.u64 %ticket, %io, {};", kSharedCounters);
    line("mov.u32 %shared, shared_bytes;");
    line("mad.lo.u32 %sown, %t, 32, %shared;");
    line("add.u32 %counters, %shared, 5120;");
    line("cvt.u64.u32 %sgen, %sown;");
    line("cvta.shared.u64 %sgen, %sgen;");
    line("mov.u64 %loc, local_bytes;");
    line("mov.u32 %c4, 0;");
    line("setp.eq.u32 %always, %zero, 0;");
    const bool unset = wrong_ && random_.one_in(6);
    for (int k = 0; k < 10; ++k)
        if (!(unset && k == 7)) line("ld.global.b32 %r{}, [%a+{}];", k, 4 * k);
    for (int k = 0; k < 6; ++k)
        if (!(unset && k == 4)) line("ld.global.b64 %d{}, [%a+{}];", k, 48 + 8 * k);
    for (int k = 0; k < 6; ++k) line("ld.global.b16 %h{}, [%a+{}];", k, 100 + 2 * k);
    for (int k = 0; k < 5; ++k)
        line("setp.{}.s32 %p{}, %r{}, {};", expand("{lt|gt|ne|le}"), k, k, r_or_zero(k));
    line("ld.param.u32 %r9, [p_word];");
    // The words that are read before this thread writes them, and the counters.
    line("st.global.v4.b32 [%own], {{%r0, %r1, %r2, %r3}};");
    for (int k = 16; k < 96; k += 16) line("st.global.v2.b64 [%own+{}], {{%d0, %d1}};", k);
    for (int k = 0; k < 32; k += 16) line("st.shared.v2.b64 [%sown+{}], {{%d2, %d3}};", k);
    for (int k = 0; k < 64; k += 8)
        if (!(wrong_ && k == 56)) line("st.local.b64 [local_bytes+{}], %d1;", k);
    line("setp.lt.u32 %q, %t, {};", kSharedCounters / 4);
    line("mad.lo.u32 %t0, %t, 4, %counters;");
    line("@%q st.shared.u32 [%t0], %r0;");
    line("bar.sync 0;");
    const std::uint64_t parts = 1 + random_.below(3);
    for (std::uint64_t k = 0; k < parts; ++k) {
        body(0, 3 + random_.below(8));
        if (wrong_ && k == parts / 2) mistake();
    }
    for (int k = 0; k < 10; k += 2) line("st.global.v2.b32 [%own+{}], {{%r{}, %r{}}};", 96 + 4 * k, k, k + 1);
    for (int k = 0; k < 6; ++k) line("st.global.b64 [%own+{}], %d{};", 136 + 8 * k, k);
    for (int k = 0; k < 6; ++k) line("st.global.b16 [%own+{}], %h{};", 184 + 2 * k, k);
    for (int k = 0; k < 5; ++k) {
        line("selp.b32 %t0, 1, 0, %p{};", k);
        line("st.global.u8 [%own+{}], %t0;", 200 + k);
    }
    line("ret;");
    put("}");
}

std::string Generator::r_or_zero(int k) {
    return random_.one_in(2) ? "0" : fmt::format("%r{}", k + 4 < 7 ? k + 4 : 9);
}

Buffers buffers_of(const Program& program) {
    Buffers buffers;
    buffers.output = program.grid.count() * program.block.count() * kPerThread;
    buffers.inout = kSharedCounters + 64;
    return buffers;
}

std::vector<std::byte> special_values(std::uint64_t seed, std::uint64_t bytes) {
    Random random(seed ^ 0x5eedull);
    std::vector<std::byte> out(bytes);
    for (std::uint64_t at = 0; at + 8 <= bytes; at += 8) {
        std::uint64_t v = 0;
        switch (random.below(5)) {
            case 0:
                v = random.next();
                break;
            case 1:
                v = random.pick(special_doubles());
                break;
            case 2:
                v = random.below(64) << 32 | random.below(300);
                break;
            default:
                v = std::uint64_t{random.pick(special_words())} << 32 | random.pick(special_words());
                break;
        }
        std::memcpy(out.data() + at, &v, 8);
    }
    return out;
}

Program generate(std::uint64_t seed) { return Generator(seed).run(); }

}  // namespace emulator::differential
