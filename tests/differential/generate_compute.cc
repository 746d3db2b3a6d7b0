// Instructions that compute from registers alone.
#include "tests/differential/program_generator.h"

namespace emulator::differential {

void Generator::compute() {
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
        // wider sets of types
        {"set.{eq|ne|lt|le|gt|ge}{|.and}.{u32|s32|f32}.{u16|s16}", 'r', "hh+"},
        {"set.{eq|ne}{|.or}.{u32|s32|f32}.b16", 'r', "hh+"},
        {"set.{eq|ne}{|.or}.{u32|s32|f32}.b32", 'r', "rr+"},
        {"set.{lt|ge|hi|ls|eq}{|.xor}.{u32|s32|f32}.u64", 'r', "dd+"},
        {"set.{eq|ne|lt|le|gt|ge}{|.and|.or|.xor}.{u32|s32|f32}.s64", 'r', "dd+"},
        {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}{|.and|.or|.xor}.{u32|s32|f32}.f64", 'r',
         "gg+"},
        {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}{|.and|.or|.xor}{|.ftz}.{u32|s32|f32}.f32",
         'r', "ff+"},
        {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}{|.and|.or}{|.ftz}.{f16|u16|s16}.f16", 'h',
         "yy+"},
        {"set.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}{|.xor}.{bf16|u16|s16}.bf16", 'h', "yy+"},
        {"set.{eq|le|gt|geu|num}{|.and}{|.ftz}.{f16x2|u32|s32}.f16x2", 'r', "xx+"},
        {"set.{ne|lt|ge|gtu|nan}{|.or}.{bf16x2|u32|s32}.bf16x2", 'r', "xx+"},
        {"selp.{u16|s16|b16}", 'h', "hhp"},
        {"selp.{u64|s64|f64}", 'd', "zzp"},
        {"slct{|.ftz}.{b16|u16|s16}.f32", 'h', "yyx"},
        {"slct.{b64|u64|s64|f64}.s32", 'd', "zzx"},
        {"slct{|.ftz}.{b64|u64|s64|f64}.f32", 'd', "zzx"},
        {"slct{|.ftz}.{u32|f32}.f32", 'r', "xxf"},
        {"mad24.hi.sat.s32", 'r', "rrr"},
        {"fns.b32", 'r', "rri"},
        {"fns.b32", 'r', "rrr"},
        {"{min|max}{|.ftz}{|.NaN}.abs.f32", 'r', "fff"},
        // a narrow type with f32, pairs of f32
        {"{add|sub}{|.rn|.rz|.rm|.rp}{|.sat}.f32.{f16|bf16}", 'r', "yf"},
        {"fma.{rn|rz|rm|rp}{|.sat}.f32.{f16|bf16}", 'r', "yyf"},
        {"{add|sub|mul}{|.rn|.rz|.rm|.rp}{|.ftz}.f32x2", 'd', "zz"},
        {"fma.{rn|rz|rm|rp}{|.ftz}.f32x2", 'd', "zzz"},
        // conversions of 4 to 8 bits, and what cvt has besides
        {"cvt.rn.satfinite{|.relu}.{e4m3x2|e5m2x2}.f32", 'h', "xx"},
        {"cvt.rn.satfinite{|.relu}.{e4m3x2|e5m2x2}.f16x2", 'h', "x"},
        {"cvt.rn{|.relu}.f16x2.{e4m3x2|e5m2x2}", 'r', "y"},
        {"cvt.rn.satfinite{|.relu}.{e2m3x2|e3m2x2}.f32", 'h', "xx"},
        {"cvt.rn{|.relu}.f16x2.{e2m3x2|e3m2x2}", 'r', "y"},
        {"cvt.{rz|rp}{|.satfinite}.ue8m0x2.f32", 'h', "xx"},
        {"cvt.{rz|rp}{|.satfinite}.ue8m0x2.bf16x2", 'h', "x"},
        {"cvt.rn.bf16x2.ue8m0x2", 'r', "y"},
        {"cvt.pack.sat.{u16|s16}.s32", 'r', "xx"},
        {"cvt.pack.sat.{u8|s8|u4|s4|u2|s2}.s32.b32", 'r', "xxx"},
        {"cvt.{rn|rz}{|.relu}{|.satfinite}.{f16|bf16}.f32", 'h', "x"},
        {"cvt.{rn|rz}{|.relu}.satfinite.{f16x2|bf16x2}.f32", 'r', "xx"},
        {"cvt.{rn|rz}{|.relu}{|.satfinite}.tf32.f32", 'r', "x"},
        {"cvt.rna.satfinite.tf32.f32", 'r', "x"},
        {"cvt.{rn|rz|rm|rp}{|.ftz}.f32.bf16", 'r', "y"},
        {"cvt.{rn|rz|rm|rp}.f64.bf16", 'd', "y"},
        {"cvt.{rn|rz|rm|rp}.{f16|bf16}.{u16|s16|u8|s8}", 'h', "y"},
        {"cvt.{rn|rz|rm|rp}{|.sat}.{f32|f16}.{u8|s8}", 'r', "x"},
        {"cvt.{rn|rz|rm|rp}.bf16.{f64|u64|s64}", 'h', "z"},
        {"cvt.{rn|rz|rm|rp}.bf16.f16", 'h', "y"},
        {"cvt.{rn|rz|rm|rp}.f16.bf16", 'h', "y"},
        {"cvt.{rni|rzi|rmi|rpi}.{u64|s64}.{f16|bf16}", 'd', "y"},
        {"cvt.{rni|rzi|rmi|rpi}.{u8|s8|u16|s16}.{f16|bf16}", 'r', "y"},
        {"cvt.{rni|rzi|rmi|rpi}.{u16|s16|s8}.f64", 'r', "z"},
        {"cvt{|.sat}.{u8|s8|u16|s16}.{u64|s64}", 'r', "z"},
        {"cvt{|.sat}.{u64|s64}.{u8|s8|u16|s16}", 'd', "y"},
        {"mov.{b32|u32|f32}", 'r', "r"},
        {"mov.{b64|f64}", 'd', "z"},
        {"mov.b16", 'h', "h"},
    };
    const Form& form = random_.pick(forms);
    const std::string name = expand(form.name);
    std::string text = guard() + name + " " + destination(form.destination);
    for (const char* s = form.sources; *s; ++s) {
        if (*s != '+')
            text += ", " + operand(*s);
        else if (joins(name))
            text += ", " + operand('p');
    }
    line("{};", text);
}

// On a part of a word, or on halves or bytes of two words at once.
void Generator::video() {
    const auto part = [&] { return expand("{|||.b0|.b1|.b2|.b3|.h0|.h1}"); };
    const std::string word = expand("{u32|s32}");
    switch (random_.below(5)) {
        case 0: {
            const std::string operation = expand("{vadd|vsub|vabsdiff|vmin|vmax}");
            const std::string sat = expand("{|.sat}"), types = expand(".{u32|s32}.{u32|s32}.{u32|s32}");
            switch (random_.below(3)) {
                case 0:
                    return line("{}{}{}{} {}, {}{}, {}{};", guard(), operation, types, sat, r(), r(), part(),
                                r(), part());
                case 1:
                    return line("{}{}{}{}.{} {}, {}{}, {}{}, {};", guard(), operation, types, sat,
                                expand("{add|min|max}"), r(), r(), part(), r(), part(), r());
                default:
                    return line("{}{}{}{} {}{}, {}{}, {}{}, {};", guard(), operation, types, sat, r(),
                                expand("{.b0|.b1|.b2|.b3|.h0|.h1}"), r(), part(), r(), part(), r());
            }
        }
        case 1:
            return line("{}{}.{}.{}.u32{}.{}{} {}, {}{}, {}{}, {};", guard(), expand("{vshl|vshr}"), word,
                        expand("{u32|s32}"), expand("{|.sat}"), expand("{clamp|wrap}"),
                        expand("{.add|.min|.max}"), r(), r(), part(), r(), part(), r());
        case 2:
            if (random_.one_in(2))
                return line("{}vset.{}.{}.{} {}, {}{}, {}{};", guard(), word, expand("{u32|s32}"),
                            expand("{eq|ne|lt|le|gt|ge}"), r(), r(), part(), r(), part());
            return line("{}vset.{}.{}.{}.{} {}, {}{}, {}{}, {};", guard(), word, expand("{u32|s32}"),
                        expand("{eq|ne|lt|le|gt|ge}"), expand("{add|min|max}"), r(), r(), part(), r(), part(),
                        r());
        case 3: {
            const std::string options = expand("{|.sat}{|.shr7|.shr15}");
            if (random_.one_in(3))
                return line("{}vmad.{}.{}.{}.po{} {}, {}{}, {}{}, {};", guard(), word, expand("{u32|s32}"),
                            expand("{u32|s32}"), options, r(), r(), part(), r(), part(), r());
            const std::uint64_t minus = random_.below(4);
            return line("{}vmad.{}.{}.{}{} {}, {}{}{}, {}{}{}, {}{};", guard(), word, expand("{u32|s32}"),
                        expand("{u32|s32}"), options, r(), minus == 1 ? "-" : "", r(), part(),
                        minus == 2 ? "-" : "", r(), part(), minus == 3 ? "-" : "", r());
        }
        default: {
            const bool four = random_.one_in(2), set = random_.one_in(4);
            const std::string name = set ? "vset" : expand("{vadd|vsub|vavrg|vabsdiff|vmin|vmax}");
            const std::string types =
                expand(set ? ".{u32|s32}.{u32|s32}.{eq|ne|lt|le|gt|ge}" : ".{u32|s32}.{u32|s32}.{u32|s32}");
            const auto select = [&] {
                if (random_.one_in(2)) return std::string();
                std::string text = four ? ".b" : ".h";
                for (int k = 0; k < (four ? 4 : 2); ++k)
                    text += fmt::format("{}", random_.below(four ? 8 : 4));
                return text;
            };
            return line("{}{}{}{}{} {}{}, {}{}, {}{}, {};", guard(), name, four ? 4 : 2, types,
                        expand(set ? "{|.add}" : "{|.sat|.add}"), r(),
                        expand(four ? "{||.b0|.b31|.b210|.b3210|.b20}" : "{||.h0|.h1|.h10}"), r(), select(),
                        r(), select(), r());
        }
    }
}

bool Generator::joins(const std::string& name) {
    return name.find(".and") != std::string::npos || name.find(".or") != std::string::npos ||
           name.find(".xor") != std::string::npos;
}

void Generator::compare() {
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
    if (joins(name)) text += ", " + operand('p');
    line("{};", text);
    if (random_.one_in(8))
        line("{}lop3.{}.b32 {}|{}, {}, {}, {}, {}, {};", guard(), expand("{and|or}"), expand("{_|%r1|%r6}"),
             p(), operand('r'), operand('r'), operand('r'), operand('i'), operand('p'));
}

void Generator::carry_chain() {
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

void Generator::rearrange() {
    switch (random_.below(12)) {
        case 9:  // two words and a 128-bit register
            line("mov.b128 %x0, {{{}, {}}};", d(), d());
            line("{}mov.b128 %x1, %x0;", random_.one_in(3) ? "@%always " : "");
            line("mov.b128 {{%d4, %d5}}, %x1;");
            break;
        case 10: {
            const char* const narrow = "e2m1x2";
            line("cvt.rn.satfinite{}.{}.f32 %y0, {}, {};", expand("{|.relu}"), narrow, r(), r());
            line("cvt.rn{}.f16x2.{} {}, %y0;", expand("{|.relu}"), narrow, r());
            break;
        }
        case 11:
            line("cvta{}.u64 {}, {};", expand("{.global|.shared|.local|.const|.to.global|.to.shared}"), d(),
                 d());
            break;
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

}  // namespace emulator::differential
