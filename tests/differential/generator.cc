#include "tests/differential/generator.h"

#include <fmt/format.h>

#include <cstring>

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

namespace {

const std::vector<std::uint32_t> kWords = {
    0,          1,          2,          7,          31,         32,         33,         63,
    64,         255,        256,        0x7fff,     0x8000,     0xffff,     0x7fffffff, 0x80000000,
    0xffffffff, 0xfffffffe, 0x3f800000, 0xbf800000, 0x40490fdb, 0x7f800000, 0xff800000, 0x7fc00000,
    0xffc00001, 0x7f800001, 0x7fffffff, 0x00800000, 0x007fffff, 0x00000001, 0x80000001, 0x80000000,
    0x7f7fffff, 0xff7fffff, 0x3f7fffff, 0x34000000, 0x3c003c00, 0x7c00fc00, 0x7e017dff, 0x04000001,
    0x83ff0001, 0x7bff8000, 0x3f803f80, 0x7f80ff80, 0x7fc1ffbf, 0x4b000001, 0x4f000000, 0xcf000000,
    0x5f000000, 0x47800000, 0x477fe000, 0x477ff000, 0x33000000, 0x38800000};
const std::vector<std::uint64_t> kDoubles = {0,
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

class Generator {
  public:
    explicit Generator(std::uint64_t seed) : random_(seed * 0x2545f4914f6cdd1dull + 1), seed_(seed) {}

    Program run() {
        program_.seed = seed_;
        static const std::vector<Dim3> blocks = {{32, 1, 1}, {32, 1, 1}, {64, 1, 1}, {48, 1, 1}, {17, 1, 1},
                                                 {8, 8, 1},  {16, 3, 1}, {96, 1, 1}, {4, 4, 3},  {33, 1, 1}};
        program_.block = random_.pick(blocks);
        program_.grid = random_.one_in(3) ? Dim3{static_cast<std::uint32_t>(1 + random_.below(3)), 1, 1}
                                          : Dim3{1, random_.one_in(4) ? 2u : 1u, 1};
        lines_loc_ = random_.one_in(4);
        wrong_ = random_.one_in(4);
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

  private:
    // ---- text ----
    void put(std::string line) { program_.lines.push_back(std::move(line)); }
    template <class... T>
    void line(fmt::format_string<T...> format, T&&... values) {
        put("    " + fmt::format(format, std::forward<T>(values)...));
    }
    std::string label() { return fmt::format("L{}", labels_++); }
    // "{a|b|}": one of the alternatives.
    std::string expand(const std::string& pattern) {
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

    // ---- operands ----
    std::string r() { return fmt::format("%r{}", random_.below(10)); }
    std::string d() { return fmt::format("%d{}", random_.below(6)); }
    std::string h() { return fmt::format("%h{}", random_.below(6)); }
    std::string p() { return fmt::format("%p{}", random_.below(5)); }
    std::string word() {
        const std::uint32_t w =
            random_.one_in(3) ? static_cast<std::uint32_t>(random_.next()) : random_.pick(kWords);
        return random_.one_in(3) ? fmt::format("{}", w & 63) : fmt::format("0x{:x}", w);
    }
    std::string operand(char kind) {
        const bool literal = random_.one_in(5);
        switch (kind) {
            case 'r':
                return literal ? word() : r();
            case 'f':
                return literal ? fmt::format("0f{:08X}", random_.pick(kWords)) : r();
            case 'x':
                return r();
            case 'd':
                return literal ? fmt::format("0x{:x}", random_.pick(kDoubles)) : d();
            case 'g':
                return literal ? fmt::format("0d{:016X}", random_.pick(kDoubles)) : d();
            case 'z':
                return d();
            case 'h':
                return literal ? fmt::format("0x{:x}", random_.pick(kWords) & 0xffff) : h();
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
    std::string destination(char kind) {
        return kind == 'd' ? d() : kind == 'h' ? h() : kind == 'p' ? p() : r();
    }
    std::string guard() {
        if (!random_.one_in(8)) return "";
        return (random_.one_in(2) ? "@" : "@!") + p() + " ";
    }

    // ---- instructions that compute ----
    struct Form {
        const char* name;
        char destination;
        const char* sources;
    };
    void compute() {
        static const std::vector<Form> forms = {
            {"{add|sub}.{u32|s32}", 'r', "rr"},
            {"{add|sub}.sat.s32", 'r', "rr"},
            {"{add|sub}.{u64|s64}", 'd', "dd"},
            {"{add|sub}.{u16|s16}", 'h', "hh"},
            {"{add|min|max}.{u16x2|s16x2}", 'r', "xx"},
            {"{min|max}.relu.{s16x2|s32}", 'r', "xx"},
            {"mul.{lo|hi}.{u32|s32}", 'r', "rr"},
            {"mul.{lo|hi}.{u64|s64}", 'd', "dd"},
            {"mul.{lo|hi}.{u16|s16}", 'h', "hh"},
            {"mul.wide.{u16|s16}", 'r', "hh"},
            {"mul.wide.{u32|s32}", 'd', "rr"},
            {"mad.{lo|hi}.{u32|s32}", 'r', "rrr"},
            {"mad.{lo|hi}.{u64|s64}", 'd', "ddd"},
            {"mad.{lo|hi}.{u16|s16}", 'h', "hhh"},
            {"mad.hi.sat.s32", 'r', "rrr"},
            {"mad.wide.{u16|s16}", 'r', "hhr"},
            {"mad.wide.{u32|s32}", 'd', "rrd"},
            {"mul24.{lo|hi}.{u32|s32}", 'r', "rr"},
            {"mad24.{lo|hi}.{u32|s32}", 'r', "rrr"},
            {"sad.{u32|s32}", 'r', "rrr"},
            {"sad.{u64|s64}", 'd', "ddd"},
            {"sad.{u16|s16}", 'h', "hhh"},
            {"{div|rem}.{u32|s32}", 'r', "rr"},
            {"{div|rem}.{u64|s64}", 'd', "dd"},
            {"{div|rem}.{u16|s16}", 'h', "hh"},
            {"{abs|neg}.s32", 'r', "r"},
            {"{abs|neg}.s64", 'd', "d"},
            {"{abs|neg}.s16", 'h', "h"},
            {"{min|max}.{u32|s32}", 'r', "rr"},
            {"{min|max}.{u64|s64}", 'd', "dd"},
            {"{min|max}.{u16|s16}", 'h', "hh"},
            {"dp4a.{u32|s32}.{u32|s32}", 'r', "rrr"},
            {"dp2a.{lo|hi}.{u32|s32}.{u32|s32}", 'r', "rrr"},
            {"{and|or|xor}.b32", 'r', "rr"},
            {"{and|or|xor}.b64", 'd', "dd"},
            {"{and|or|xor}.b16", 'h', "hh"},
            {"{and|or|xor}.pred", 'p', "pp"},
            {"not.pred", 'p', "p"},
            {"mov.pred", 'p', "p"},
            {"{not|cnot}.b32", 'r', "r"},
            {"{not|cnot}.b64", 'd', "d"},
            {"{not|cnot}.b16", 'h', "h"},
            {"shl.b32", 'r', "rr"},
            {"shl.b64", 'd', "dr"},
            {"shl.b16", 'h', "hr"},
            {"shr.{b32|u32|s32}", 'r', "rr"},
            {"shr.{b64|u64|s64}", 'd', "dr"},
            {"shr.{b16|u16|s16}", 'h', "hr"},
            {"shf.{l|r}.{clamp|wrap}.b32", 'r', "rrr"},
            {"prmt.b32{||.f4e|.b4e|.rc8|.ecl|.ecr|.rc16}", 'r', "rrr"},
            {"lop3.b32", 'r', "rrri"},
            {"bfe.{u32|s32}", 'r', "rrr"},
            {"bfe.{u64|s64}", 'd', "drr"},
            {"bfi.b32", 'r', "rrrr"},
            {"bfi.b64", 'd', "ddrr"},
            {"bfind{|.shiftamt}.{u32|s32}", 'r', "r"},
            {"bfind{|.shiftamt}.{u64|s64}", 'r', "d"},
            {"{popc|clz|brev}.b32", 'r', "r"},
            {"{popc|clz}.b64", 'r', "d"},
            {"brev.b64", 'd', "d"},
            {"bmsk.{clamp|wrap}.b32", 'r', "rr"},
            {"szext.{clamp|wrap}.{u32|s32}", 'r', "rr"},
            // f32
            {"{add|sub|mul}{|.rn|.rz|.rm|.rp}{|.ftz}{||.sat}.f32", 'r', "ff"},
            {"fma.{rn|rz|rm|rp}{|.ftz}{||.sat}.f32", 'r', "fff"},
            {"fma.rn.f32", 'r', "fff"},
            {"div.{rn|rz|rm|rp}{|.ftz}.f32", 'r', "ff"},
            {"{rcp|sqrt}.{rn|rz|rm|rp}{|.ftz}.f32", 'r', "f"},
            {"{min|max}{|.ftz}{|.NaN}{|.xorsign.abs}.f32", 'r', "ff"},
            {"{min|max}{|.ftz}{|.NaN}.f32", 'r', "fff"},
            {"{abs|neg}{|.ftz}.f32", 'r', "f"},
            {"copysign.f32", 'r', "ff"},
            {"testp.{finite|infinite|number|notanumber|normal|subnormal}.f32", 'p', "f"},
            // f64
            {"{add|sub|mul}{|.rn|.rz|.rm|.rp}.f64", 'd', "gg"},
            {"fma.{rn|rz|rm|rp}.f64", 'd', "ggg"},
            {"div.{rn|rz|rm|rp}.f64", 'd', "gg"},
            {"{rcp|sqrt}.{rn|rz|rm|rp}.f64", 'd', "g"},
            {"{min|max}.f64", 'd', "gg"},
            {"{abs|neg}.f64", 'd', "g"},
            {"copysign.f64", 'd', "gg"},
            {"testp.{finite|infinite|number|notanumber|normal|subnormal}.f64", 'p', "g"},
            // halves
            {"{add|sub|mul}{|.rn}{|.ftz}{||.sat}.f16", 'h', "yy"},
            {"{add|sub|mul}{|.rn}{|.ftz}{||.sat}.f16x2", 'r', "xx"},
            {"{add|sub|mul}{|.rn}.bf16", 'h', "yy"},
            {"{add|sub|mul}{|.rn}.bf16x2", 'r', "xx"},
            {"fma.rn{|.ftz}{|.sat|.relu}.f16", 'h', "yyy"},
            {"fma.rn{|.ftz}{|.sat|.relu}.f16x2", 'r', "xxx"},
            {"fma.rn{|.relu}.bf16", 'h', "yyy"},
            {"fma.rn{|.relu}.bf16x2", 'r', "xxx"},
            {"{min|max}{|.ftz}{|.NaN}{|.xorsign.abs}.f16", 'h', "yy"},
            {"{min|max}{|.ftz}{|.NaN}{|.xorsign.abs}.f16x2", 'r', "xx"},
            {"{min|max}{|.NaN}{|.xorsign.abs}.bf16", 'h', "yy"},
            {"{min|max}{|.NaN}{|.xorsign.abs}.bf16x2", 'r', "xx"},
            {"{abs|neg}{|.ftz}.f16", 'h', "y"},
            {"{abs|neg}{|.ftz}.f16x2", 'r', "x"},
            {"{abs|neg}.bf16", 'h', "y"},
            {"{abs|neg}.bf16x2", 'r', "x"},
            // selection
            {"selp.{b32|u32|s32|f32}", 'r', "xxp"},
            {"selp.b64", 'd', "ddp"},
            {"selp.b16", 'h', "hhp"},
            {"slct.{b32|u32|f32}.s32", 'r', "xxr"},
            {"slct{|.ftz}.{b32|s32}.f32", 'r', "xxf"},
            {"slct.b64.{s32|f32}", 'd', "zzx"},
            {"slct.b16.s32", 'h', "yyr"},
            {"set.{eq|ne|lt|le|gt|ge|hi|ls}.{u32|f32}.u32", 'r', "rr"},
            {"set.{eq|ne|lt|le|gt|ge}.{and|or|xor}.{u32|s32}.s32", 'r', "rrp"},
            {"set.{eq|lt|ge|equ|leu|num|nan}{|.ftz}.{u32|f32}.f32", 'r', "ff"},
            {"set.{eq|ne|gtu|nan}.{f16x2|u32}.f16x2", 'r', "xx"},
            {"set.{lt|neu|num}.bf16x2.bf16x2", 'r', "xx"},
            // conversions
            {"cvt.{u8|s8}.{u32|s32}", 'r', "x"},
            {"cvt.sat.{u8|s8|u16|s16}.{u32|s32}", 'r', "x"},
            {"cvt{|.sat}.{u16|s16}.{u32|s32}", 'h', "x"},
            {"cvt{|.sat}.{u32|s32}.{u16|s16|u8|s8}", 'r', "y"},
            {"cvt{|.sat}.{u64|s64}.{u32|s32}", 'd', "x"},
            {"cvt{|.sat}.{u32|s32}.{u64|s64}", 'r', "z"},
            {"cvt.{u32|s32|u16|s16}.{u8|s8}", 'r', "x"},
            {"cvt.{rn|rz|rm|rp}{|.sat}.f32.{u32|s32|u16|s16}", 'r', "x"},
            {"cvt.{rn|rz|rm|rp}.f32.{u64|s64}", 'r', "z"},
            {"cvt.{rn|rz|rm|rp}.f64.{u64|s64}", 'd', "z"},
            {"cvt.{rn|rz|rm|rp}.f64.{u32|s32}", 'd', "x"},
            {"cvt.{rn|rz|rm|rp}.f16.{u32|s32}", 'h', "x"},
            {"cvt.{rn|rz|rm|rp}.f16.{u64|s64}", 'h', "z"},
            {"cvt.rn.bf16.{u32|s32}", 'h', "x"},
            {"cvt.{rni|rzi|rmi|rpi}{|.ftz}.{u32|s32|u16|s16|u8|s8}.f32", 'r', "x"},
            {"cvt.{rni|rzi|rmi|rpi}{|.ftz}.{u64|s64}.f32", 'd', "x"},
            {"cvt.{rni|rzi|rmi|rpi}.{u32|s32|u8|s16}.f64", 'r', "z"},
            {"cvt.{rni|rzi|rmi|rpi}.{u64|s64}.f64", 'd', "z"},
            {"cvt.{rni|rzi|rmi|rpi}.{u32|s32|s8}.f16", 'r', "y"},
            {"cvt.{rni|rzi|rmi|rpi}.{u32|s32}.bf16", 'r', "y"},
            {"cvt.{rni|rzi|rmi|rpi}{|.ftz}{|.sat}.f32.f32", 'r', "x"},
            {"cvt{|.ftz}.sat.f32.f32", 'r', "x"},
            {"cvt.{rni|rzi|rmi|rpi}.f64.f64", 'd', "z"},
            {"cvt.{rni|rzi|rmi|rpi}.f16.f16", 'h', "y"},
            {"cvt.{rn|rz|rm|rp}{|.ftz}{|.sat}.f32.f64", 'r', "z"},
            {"cvt{|.ftz}.f64.f32", 'd', "x"},
            {"cvt.{rn|rz|rm|rp}{|.ftz}{|.sat}.f16.f32", 'h', "x"},
            {"cvt.{rn|rz}{|.relu}.f16.f32", 'h', "x"},
            {"cvt.{rn|rz|rm|rp}.f16.f64", 'h', "z"},
            {"cvt.{rn|rz}{|.relu}.bf16.f32", 'h', "x"},
            {"cvt{|.ftz}{|.sat}.f32.f16", 'r', "y"},
            {"cvt.f64.f16", 'd', "y"},
            {"cvt.f32.bf16", 'r', "y"},
            {"cvt.rn.bf16.f16", 'h', "y"},
            {"cvt.rn.f16.bf16", 'h', "y"},
            {"cvt.{rn|rz}{|.relu}.{f16x2|bf16x2}.f32", 'r', "xx"},
            {"cvt.rna.tf32.f32", 'r', "x"},
            {"mov.{b32|u32|f32}", 'r', "r"},
            {"mov.{b64|f64}", 'd', "z"},
            {"mov.b16", 'h', "h"},
        };
        const Form& form = random_.pick(forms);
        std::string text = guard() + expand(form.name) + " " + destination(form.destination);
        for (const char* s = form.sources; *s; ++s) text += ", " + operand(*s);
        line("{};", text);
    }

    void compare() {
        static const std::vector<Form> forms = {
            {"setp.{eq|ne|lt|le|gt|ge|lo|ls|hi|hs}{||.and|.or|.xor}.u32", 'p', "rr"},
            {"setp.{eq|ne|lt|le|gt|ge}{||.and|.or|.xor}.{s32|b32}", 'p', "rr"},
            {"setp.{eq|ne|lt|le|gt|ge}{|.and}.{u64|s64|b64}", 'p', "dd"},
            {"setp.{eq|ne|lt|le|gt|ge}{|.or}.{u16|s16|b16}", 'p', "hh"},
            {"setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}{||.and|.xor}{|.ftz}.f32", 'p', "ff"},
            {"setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}{|.or}.f64", 'p', "gg"},
            {"setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}{|.ftz}.f16", 'p', "yy"},
            {"setp.{eq|ne|lt|gt|equ|ltu|num|nan}.bf16", 'p', "yy"},
            {"setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}{|.ftz}{|.and}.f16x2", '2', "xx"},
            {"setp.{eq|lt|neu|num}.bf16x2", '2', "xx"},
        };
        const Form& form = random_.pick(forms);
        const std::string name = expand(form.name);
        std::string to = p();
        if (form.destination == '2' || random_.one_in(5)) {
            std::string other = p();
            while (other == to) other = p();
            to += "|" + other;
        }
        std::string text = guard() + name + " " + to;
        for (const char* s = form.sources; *s; ++s) text += ", " + operand(*s);
        const bool joins = name.find(".and") != std::string::npos || name.find(".or") != std::string::npos ||
                           name.find(".xor") != std::string::npos;
        if (joins) text += ", " + operand('p');
        line("{};", text);
    }

    void carry_chain() {
        const bool subtract = random_.one_in(2), wide = random_.one_in(3);
        const char kind = wide ? 'd' : 'r';
        const std::string type = wide ? expand("{u64|s64}") : expand("{u32|s32}");
        const std::string part = expand("{lo|hi}");
        const bool multiply = random_.one_in(3);
        const auto one = [&](const char* name, bool in, bool out) {
            const std::string sources = operand(kind) + ", " + operand(kind);
            if (multiply)
                line("{}.{}{}.{} {}, {}, {};", in ? "madc" : "mad", part, out ? ".cc" : "", type,
                     destination(kind), sources, operand(kind));
            else
                line("{}{}{}.{} {}, {};", name, in ? "c" : "", out ? ".cc" : "", type, destination(kind),
                     sources);
        };
        const char* name = subtract ? "sub" : "add";
        one(name, false, true);
        for (std::uint64_t k = random_.below(3); k > 0; --k) one(name, true, true);
        one(name, true, false);
    }

    void rearrange() {
        switch (random_.below(9)) {
            case 0:
                line("mov.b32 {}, {{{}, {}}};", r(), h(), h());
                break;
            case 1: {
                const std::string a = h();
                std::string b = h();
                while (b == a) b = h();
                line("mov.b32 {{{}, {}}}, {};", a, b, r());
                break;
            }
            case 2:
                line("mov.b64 {}, {{{}, {}}};", d(), r(), r());
                break;
            case 3: {
                const std::string a = r();
                std::string b = r();
                while (b == a) b = r();
                line("mov.b64 {{{}, {}}}, {};", a, random_.one_in(6) ? "_" : b, d());
                break;
            }
            case 4:
                line("mov.b64 {}, {{{}, {}, {}, {}}};", d(), h(), h(), h(), h());
                break;
            case 5:
                line("mov.u32 {}, %{};", r(),
                     expand("{tid.x|tid.y|ntid.x|ctaid.x|nctaid.y|laneid|warpid|lanemask_lt|lanemask_ge|"
                            "lanemask_eq|"
                            "lanemask_gt|lanemask_le}"));
                break;
            case 6: {
                const std::string wide = d();
                line("mov.u64 {}, device_words;", wide);
                line("isspacep.{} {}, {};", expand("{global|shared|local|const}"), p(), wide);
                break;
            }
            case 7:
                line("activemask.b32 {};", r());
                break;
            default:
                line("mov.b64 {{{}, {}, {}, {}}}, {};", "%h0", "%h1", "%h2", "%h3", d());
                break;
        }
    }

    // ---- memory ----
    struct Access {
        std::string type;
        unsigned bytes;
        char kind;
    };
    const Access& element() {
        static const std::vector<Access> all = {
            {"u8", 1, 'r'},  {"s8", 1, 'r'},  {"b8", 1, 'h'},  {"u16", 2, 'h'}, {"s16", 2, 'r'},
            {"b16", 2, 'h'}, {"u32", 4, 'r'}, {"s32", 4, 'd'}, {"b32", 4, 'r'}, {"f32", 4, 'r'},
            {"u64", 8, 'd'}, {"b64", 8, 'd'}, {"f64", 8, 'd'}, {"u32", 4, 'r'}, {"s8", 1, 'h'},
            {"s8", 1, 'd'},  {"u16", 2, 'd'}};
        return random_.pick(all);
    }
    // "{a, b}" of different registers, or one.
    std::string registers(char kind, unsigned n, bool write) {
        if (n == 1) return write ? destination(kind) : kind == 'r' ? r() : kind == 'd' ? d() : h();
        std::string text = "{";
        const unsigned limit = kind == 'r' ? 10 : 6;
        const std::uint64_t first = random_.below(limit);
        for (unsigned k = 0; k < n; ++k)
            text += fmt::format("{}%{}{}", k ? ", " : "", kind, (first + k) % limit);
        return text + "}";
    }
    unsigned vector_of(unsigned bytes) {
        const unsigned n = 1u << random_.below(3);
        return n * bytes > 16 ? 1 : n;
    }
    static std::string suffix(unsigned n) { return n == 1 ? "" : fmt::format(".v{}", n); }

    // %a: base + a random, aligned, lane-dependent offset below `span` (a power of two).
    void address_in(const std::string& base, std::uint64_t span, unsigned bytes) {
        line("and.b32 %t0, {}, 0x{:x};", random_.one_in(3) ? "%lane" : r(),
             (span - 1) & ~std::uint64_t{bytes - 1});
        if (random_.one_in(3)) {  // neighbours
            line("mul.lo.u32 %t0, %lane, {};", bytes);
            line("and.b32 %t0, %t0, 0x{:x};", (span - 1) & ~std::uint64_t{bytes - 1});
        }
        line("cvt.u64.u32 %a, %t0;");
        line("add.u64 %a, {}, %a;", base);
    }
    void load_input() {
        const Access& e = element();
        const unsigned n = vector_of(e.bytes);
        address_in("%in", kInputBytes, e.bytes * n);
        line("{}ld{}{}.{} {}, [%a];", guard(),
             expand(
                 "{.global|.global|.global.nc|.global.ca|.global.cg|.volatile.global|.relaxed.gpu.global|}"),
             suffix(n), e.type, registers(e.kind, n, true));
    }
    void own_output() {  // 256 bytes per thread
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
    void shared_own() {  // 32 bytes per thread
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
    void exchange() {  // every thread reads another's word, between barriers
        const Access& e = element();
        const bool barriers = !(wrong_ && random_.one_in(6));
        if (barriers) line("bar.sync 0;");
        line("st.shared.{} [%sown], {};", e.type, registers(e.kind, 1, false));
        if (barriers) line("bar.sync {};", random_.one_in(3) ? 1 : 0);
        line("add.u32 %t0, %t, {};", 1 + random_.below(40));
        line("rem.u32 %t0, %t0, %n;");
        line("mad.lo.u32 %t0, %t0, {}, %shared;", random_.one_in(3) ? 16 : 32);
        line("ld.shared.{} {}, [%t0];", e.type, registers(e.kind, 1, true));
        if (barriers) line("bar.sync 0;");
    }
    void reduction_barrier() {
        switch (random_.below(3)) {
            case 0:
                line("bar.red.popc.u32 {}, 0, {};", r(), operand('p'));
                break;
            case 1:
                line("bar.red.and.pred {}, 0, {};", p(), operand('p'));
                break;
            default:
                line("barrier.red.or.pred {}, 0, {};", p(), operand('p'));
                break;
        }
    }
    void local_memory() {
        const Access& e = element();
        const unsigned n = vector_of(e.bytes);
        const std::uint64_t at = random_.below(64 / (e.bytes * n)) * e.bytes * n;
        if (random_.one_in(2)) {
            line("{}st.local{}.{} [local_bytes+{}], {};", guard(), suffix(n), e.type, at,
                 registers(e.kind, n, false));
            line("{}ld.local{}.{} {}, [local_bytes+{}];", guard(), suffix(n), e.type,
                 registers(e.kind, n, true), at);
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
    void constant_memory() {
        line("and.b32 %t0, {}, 28;", r());
        line("cvt.u64.u32 %a, %t0;");
        line("mov.u64 {}, table;", "%b");
        line("add.u64 %a, %a, %b;");
        line("{}ld.const.b32 {}, [%a];", guard(), r());
        if (random_.one_in(3)) line("ld.const.v2.u32 {}, [table+8];", registers('r', 2, true));
        if (random_.one_in(3)) line("ld.global.u32 {}, [device_words+{}];", r(), 4 * random_.below(8));
    }
    void atomic() {
        static const std::vector<std::pair<const char*, char>> forms = {
            {"add.{u32|s32}", 'r'},    {"{min|max}.{u32|s32}", 'r'},
            {"{and|or|xor}.b32", 'r'}, {"exch.b32", 'r'},
            {"{inc|dec}.u32", 'r'},    {"add.f32", 'r'},
            {"add.noftz.f16x2", 'r'},  {"add.noftz.bf16x2", 'r'},
            {"add.u64", 'd'},          {"{min|max}.{u64|s64}", 'd'},
            {"{and|or|xor}.b64", 'd'}, {"exch.b64", 'd'},
            {"add.f64", 'd'},          {"cas.b32", 'c'},
            {"cas.b64", 'C'},          {"add.noftz.f16", 'h'},
            {"cas.b16", 'k'}};
        const auto& [pattern, kind] = random_.pick(forms);
        const std::string operation = expand(pattern);
        const char k = kind == 'c' ? 'r' : kind == 'C' ? 'd' : kind == 'k' ? 'h' : kind;
        const bool cas = kind == 'c' || kind == 'C' || kind == 'k';
        const unsigned bytes = k == 'd' ? 8 : k == 'h' ? 2 : 4;
        const bool in_shared = random_.one_in(3);
        const std::string scope = expand("{|.relaxed.gpu|.relaxed.cta|.gpu|.acq_rel.gpu}");
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
            line("{}red{}{}.{} {}, {};", guard(), scope == ".acq_rel.gpu" ? "" : scope, space, operation,
                 place, values);
        else
            line("{}atom{}{}.{} {}, {}, {};", guard(), scope, space, operation, registers(k, 1, true), place,
                 values);
    }
    void several_memories() {  // one instruction, lanes in different buffers or spaces
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
    void add_by_compare_and_swap() {  // the loop that double-precision atomicAdd once was
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
    void strong_traffic() {
        const bool shared = random_.one_in(2);
        const char* const space = shared ? "shared" : "global";
        const char* const base = shared ? "%sown" : "%own";
        line("{}st.volatile.{}.u32 [{}+{}], {};", guard(), space, base, 4 * random_.below(8), r());
        line("{};",
             expand("{membar.cta|membar.gl|membar.sys|fence.acq_rel.cta|fence.acq_rel.gpu|fence.sc.gpu}"));
        line("ld.volatile.{}.u32 {}, [{}+{}];", space, r(), base, 4 * random_.below(8));
    }
    void last_block() {  // each block publishes, the last one reads what all published
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

    // ---- lanes together ----
    void collective() {
        const bool whole = uniform_ && random_.one_in(2);
        if (!whole) line("activemask.b32 %m;");
        const std::string mask = whole ? "0xffffffff" : "%m";
        switch (random_.below(8)) {
            case 0:
            case 1:
                line("shfl.sync.{}.b32 {}{}, {}, {}, {}, {};", expand("{up|down|bfly|idx}"), r(),
                     random_.one_in(2) ? "|" + p() : "", r(),
                     random_.one_in(3) ? r() : fmt::format("{}", random_.below(32)),
                     expand("{0x1f|0|0x181f|0x1c03|0x1000}"), mask);
                break;
            case 2:
                line("vote.sync.{}.pred {}, {}, {};", expand("{all|any|uni}"), p(), operand('p'), mask);
                break;
            case 3:
                line("vote.sync.ballot.b32 {}, {}, {};", r(), operand('p'), mask);
                break;
            case 4:
                line("match.any.sync.{} {}, {}, {};", "b32", r(), r(), mask);
                break;
            case 5:
                line("match.{}, {}, {};",
                     random_.one_in(2) ? "any.sync.b64 " + r() : "all.sync.b64 " + r() + "|" + p(), d(),
                     mask);
                break;
            case 6:
                line("redux.sync.{} {}, {}, {};",
                     expand("{add.u32|min.u32|max.u32|min.s32|max.s32|and.b32|or.b32|xor.b32}"), r(), r(),
                     mask);
                break;
            default:
                line("bar.warp.sync {};", mask);
                break;
        }
    }

    // ---- control flow ----
    void condition() {  // %q
        switch (random_.below(4)) {
            case 0:
                line("setp.{}.u32 %q, %lane, {};", expand("{lt|ge|eq|ne}"), random_.below(32));
                break;
            case 1:
                line("and.b32 %t0, %lane, {};", 1 + random_.below(7));
                line("setp.eq.u32 %q, %t0, {};", random_.below(3));
                break;
            case 2:
                line("setp.{}.s32 %q, {}, {};", expand("{lt|gt|ne}"), r(), r());
                break;
            default:
                line("mov.pred %q, {};", p());
                break;
        }
    }
    void branch(int depth) {
        const std::string other = label(), end = label();
        condition();
        const bool was = uniform_;
        line("@{}%q bra {};", random_.one_in(2) ? "!" : "", other);
        uniform_ = false;
        body(depth + 1, 1 + random_.below(3));
        const bool two_sides = random_.one_in(2);
        if (two_sides) line("bra{} {};", random_.one_in(8) ? ".uni" : "", end);
        put(other + ":");
        if (two_sides) body(depth + 1, 1 + random_.below(3));
        put(end + ":");
        uniform_ = was;
    }
    void loop(int depth) {
        const std::string again = label(), end = label();
        const bool same = random_.one_in(3), was = uniform_;
        const int counter = depth < 4 ? depth : 3;
        if (same)
            line("mov.u32 %c{}, {};", counter, 1 + random_.below(4));
        else {
            line("and.b32 %c{}, {}, {};", counter, random_.one_in(2) ? "%lane" : r(),
                 random_.one_in(2) ? 3 : 7);
            if (random_.one_in(2)) line("add.u32 %c{0}, %c{0}, 1;", counter);
        }
        if (!same) uniform_ = false;
        const bool tests_first = random_.one_in(2);
        put(again + ":");
        if (tests_first) {
            line("setp.eq.u32 %q, %c{}, 0;", counter);
            line("@%q bra {};", end);
        }
        body(depth + 1, 1 + random_.below(4));
        if (random_.one_in(6)) {  // break
            condition();
            if (!uniform_) line("@%q bra {};", end);
        }
        if (tests_first) {
            line("sub.u32 %c{0}, %c{0}, 1;", counter);
            line("bra {};", again);
        } else {
            line("setp.gt.s32 %q, %c{}, 1;", counter);
            line("sub.u32 %c{0}, %c{0}, 1;", counter);
            line("@%q bra {};", again);
        }
        put(end + ":");
        uniform_ = was;
    }
    void ladder(int depth) {
        const std::string end = label();
        const bool was = uniform_, indexed = random_.one_in(2);
        const std::uint64_t ways = 2 + random_.below(3);
        std::vector<std::string> targets;
        for (std::uint64_t k = 0; k < ways; ++k) targets.push_back(label());
        line("and.b32 %t0, {}, 3;", random_.one_in(2) ? "%lane" : r());
        line("min.u32 %t0, %t0, {};", ways - 1);
        if (indexed) {
            const std::string table = fmt::format("T{}", labels_++);
            std::string all;
            for (const std::string& t : targets) all += (all.empty() ? "" : ", ") + t;
            line("{}: .branchtargets {};", table, all);
            line("brx.idx %t0, {};", table);
        } else {
            for (std::uint64_t k = 0; k + 1 < ways; ++k) {
                line("setp.eq.u32 %q, %t0, {};", k);
                line("@%q bra {};", targets[k]);
            }
            line("bra {};", targets.back());
        }
        uniform_ = false;
        for (std::uint64_t k = 0; k < ways; ++k) {
            put(targets[k] + ":");
            body(depth + 1, 1 + random_.below(2));
            if (!random_.one_in(4)) line("bra {};", end);
        }
        put(end + ":");
        uniform_ = was;
    }
    void call_function() {
        const std::uint64_t f = random_.below(static_cast<std::uint64_t>(functions_));
        put("    {");
        line(".param .b32 arg0;");
        line(".param .align 8 .b8 arg1[8];");
        line(".param .b32 ret0;");
        line("st.param.b32 [arg0], {};", r());
        line("st.param.b64 [arg1], {};", d());
        if (random_.one_in(3)) {
            const std::string prototype = fmt::format("proto{}", labels_++);
            line("mov.u64 %b, f{};", f);
            line("{}: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[8]);",
                 prototype);
            line("{}call (ret0), %b, (arg0, arg1), {};", random_.one_in(3) ? "@" + p() + " " : "", prototype);
        } else {
            line("{}call{} (ret0), f{}, (arg0, arg1);", random_.one_in(3) ? "@" + p() + " " : "",
                 random_.one_in(3) ? ".uni" : "", f);
        }
        // Lanes that did not call find what the function before left, or nothing.
        line("@%always ld.param.b32 {}, [ret0];", r());
        put("    }");
    }

    void statement(int depth) {
        if (lines_loc_ && random_.one_in(4)) line(".loc 1 {} 1", 10 + source_line_++);
        const std::uint64_t kind = random_.below(100);
        if (kind < 40) return compute();
        if (kind < 47) return compare();
        if (kind < 49) return carry_chain();
        if (kind < 53) return rearrange();
        if (in_function_)
            return depth < 2 && kind < 70 ? branch(depth) : depth < 2 && kind < 75 ? loop(depth) : compute();
        if (kind < 57) return load_input();
        if (kind < 61) return own_output();
        if (kind < 64) return shared_own();
        if (kind < 66) return local_memory();
        if (kind < 68) return constant_memory();
        if (kind < 70) return atomic();
        if (kind < 71) return several_memories();
        if (kind < 72) return random_.one_in(2) ? strong_traffic() : compute();
        if (kind < 78) return collective();
        if (kind < 80) return uniform_ ? exchange() : collective();
        if (kind < 81) return uniform_ ? reduction_barrier() : compute();
        if (kind < 82)
            return uniform_ && depth == 0 && !used_ticket_ ? (used_ticket_ = true, last_block()) : compute();
        if (kind < 83) return random_.one_in(2) ? add_by_compare_and_swap() : compute();
        if (functions_ && kind < 86) return call_function();
        if (depth < 3) {
            if (kind < 92) return branch(depth);
            if (kind < 96) return loop(depth);
            if (kind < 98) return ladder(depth);
            if (kind < 99 && depth > 0 && !uniform_) {
                condition();
                line("@%q {};", random_.one_in(2) ? "exit" : "ret");
                return;
            }
        }
        return compute();
    }
    void body(int depth, std::uint64_t statements) {
        for (std::uint64_t k = 0; k < statements && program_.lines.size() < 420; ++k) statement(depth);
    }

    // One thing that is wrong.
    void mistake() {
        const std::string skip = label();
        const bool some = random_.one_in(2);
        const bool was = uniform_;
        if (some) {
            line("setp.ne.u32 %q, %lane, {};", random_.below(32));
            line("@%q bra {};", skip);
            uniform_ = false;
        }
        switch (random_.below(18)) {
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
                line("{}",
                     expand("{ld.shared.u32 %r1, [%a];|st.shared.u32 [%a], %r1;|ld.global.u32 %r1, [%a];|"
                            "atom.shared.add.u32 %r1, [%a], %r2;}"));
                break;
            case 0:
                line("ld.global.u32 {}, [%in+{}];", r(),
                     random_.one_in(2) ? kInputBytes : 1 + random_.below(3));
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

    void registers_declared() {
        line(".reg .b32 %r<10>;");
        line(".reg .b64 %d<6>;");
        line(".reg .b16 %h<6>;");
        line(".reg .pred %p<5>;");
        line(
            ".reg .b32 %t, %n, %lane, %zero, %t0, %t1, %t2, %t3, %c0, %c1, %c2, %c3, %c4, %m, %never, "
            "%blocks;");
        line(".reg .b64 %a, %b;");
        line(".reg .pred %q, %always;");
    }
    void function(int number) {
        in_function_ = true;
        uniform_ = false;
        put(fmt::format(".func (.param .b32 result) f{}(.param .b32 first, .param .align 8 .b8 second[8])",
                        number));
        put("{");
        registers_declared();
        line("ld.param.b32 %r0, [first];");
        line("ld.param.b64 %d0, [second];");
        line("mov.u32 %lane, %laneid;");
        for (int k = 1; k < 10; ++k) line("add.u32 %r{}, %r{}, 0x{:x};", k, k - 1, random_.pick(kWords));
        for (int k = 1; k < 6; ++k) line("xor.b64 %d{}, %d{}, 0x{:x};", k, k - 1, random_.pick(kDoubles));
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
    void kernel() {
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
        for (int k = 0; k < 10; k += 2)
            line("st.global.v2.b32 [%own+{}], {{%r{}, %r{}}};", 96 + 4 * k, k, k + 1);
        for (int k = 0; k < 6; ++k) line("st.global.b64 [%own+{}], %d{};", 136 + 8 * k, k);
        for (int k = 0; k < 6; ++k) line("st.global.b16 [%own+{}], %h{};", 184 + 2 * k, k);
        for (int k = 0; k < 5; ++k) {
            line("selp.b32 %t0, 1, 0, %p{};", k);
            line("st.global.u8 [%own+{}], %t0;", 200 + k);
        }
        line("ret;");
        put("}");
    }
    std::string r_or_zero(int k) {
        return random_.one_in(2) ? "0" : fmt::format("%r{}", k + 4 < 7 ? k + 4 : 9);
    }

    Random random_;
    std::uint64_t seed_;
    Program program_;
    int labels_ = 0, functions_ = 0, source_line_ = 0;
    bool uniform_ = true, in_function_ = false, wrong_ = false, lines_loc_ = false, used_ticket_ = false;
};

}  // namespace

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
                v = random.pick(kDoubles);
                break;
            case 2:
                v = random.below(64) << 32 | random.below(300);
                break;
            default:
                v = std::uint64_t{random.pick(kWords)} << 32 | random.pick(kWords);
                break;
        }
        std::memcpy(out.data() + at, &v, 8);
    }
    return out;
}

Program generate(std::uint64_t seed) { return Generator(seed).run(); }

}  // namespace emulator::differential
