// Logic, shifts, bit fields, comparisons and selections.
#include "emulator/src/decode/decoder.h"

namespace emulator::decode {
namespace {

namespace flag = exec::flag;

void integer_work(Instr& out) {
    out.pipe = Pipe::alu;
    out.work = Work::integer;
}

bool logic(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {  // and or xor not cnot
    const auto t = m.type();
    if (!t || (!is_integer(*t) && *t != Type::pred)) return d.fail("this type");
    integer_work(out);
    const bool unary = in.opcode == "not" || in.opcode == "cnot";
    if (!d.handler(out, in.opcode + (*t == Type::pred ? ".pred" : bits_name(*t)))) return false;
    return unary ? d.simple(out, in, *t, {*t}) : d.simple(out, in, *t, {*t, *t});
}
bool shift(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {  // shl shr
    const auto t = m.type();
    if (!t || !is_integer(*t)) return d.fail("this type");
    integer_work(out);
    return d.handler(out, in.opcode + (in.opcode == "shl" ? bits_name(*t) : typed_name(*t))) &&
           d.simple(out, in, *t, {*t, Type::u32});
}
bool funnel(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    const bool right = m.take("r");
    if (!right && !m.take("l")) return d.fail("this form");
    const bool wrap = m.take("wrap");
    if (!wrap && !m.take("clamp")) return d.fail("this form");
    out.sub = static_cast<std::uint8_t>((right ? 1 : 0) | (wrap ? 2 : 0));
    if (m.type() != Type::b32) return d.fail("this type");
    integer_work(out);
    return d.handler(out, "shf") && d.simple(out, in, Type::b32, {Type::b32, Type::b32, Type::b32});
}
bool prmt(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (m.type() != Type::b32) return d.fail("this type");
    static const char* const modes[] = {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    for (std::uint8_t i = 1; i < 7; ++i)
        if (m.take(modes[i])) out.sub = i;
    integer_work(out);
    return d.handler(out, "prmt") && d.simple(out, in, Type::b32, {Type::b32, Type::b32, Type::b32});
}
bool lop3(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    // lop3.or and lop3.and: also p, whether the word is not zero combined with a predicate.
    out.sub = m.take("or") ? 1 : m.take("and") ? 2 : 0;
    if (m.type() != Type::b32 || in.operands.size() != (out.sub ? 6u : 5u)) return d.fail("this form");
    const auto table = d.literal(in.operands[4]);
    if (!table) return d.fail("a table that is not a literal");
    out.imm = *table & 0xff;
    integer_work(out);
    if (!d.handler(out, "lop3") || !d.destination(out, in.operands[0])) return false;
    if (out.sub && out.destinations == 1 && !d.append(out, d.scratch_predicate(), true)) return false;
    return d.sources(out, in, 1, 3, Type::b32) && (out.sub == 0 || d.source(out, in.operands[5], Type::pred));
}
bool fns(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (m.type() != Type::b32) return d.fail("this type");
    integer_work(out);
    return d.handler(out, "fns") && d.simple(out, in, Type::b32, {Type::b32, Type::b32, Type::s32});
}
bool field(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {  // bfe bfi
    const auto t = m.type();
    if (!t || !is_integer(*t)) return d.fail("this type");
    integer_work(out);
    if (in.opcode == "bfi")
        return d.handler(out, "bfi" + bits_name(*t)) && d.simple(out, in, *t, {*t, *t, Type::u32, Type::u32});
    return d.handler(out, "bfe" + typed_name(*t)) && d.simple(out, in, *t, {*t, Type::u32, Type::u32});
}
bool bfind(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    const bool amount = m.take("shiftamt");
    const auto t = m.type();
    if (!t || !is_integer(*t)) return d.fail("this type");
    integer_work(out);
    return d.handler(out, std::string("bfind") + (amount ? ".shiftamt" : "") + typed_name(*t)) &&
           d.simple(out, in, Type::u32, {*t});
}
bool bmsk(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    out.sub = m.take("wrap") ? 1 : 0;
    if (out.sub == 0 && !m.take("clamp")) return d.fail("this form");
    if (m.type() != Type::b32) return d.fail("this type");
    integer_work(out);
    return d.handler(out, "bmsk") && d.simple(out, in, Type::b32, {Type::b32, Type::b32});
}
bool szext(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    out.sub = m.take("wrap") ? 1 : 0;
    if (out.sub == 0 && !m.take("clamp")) return d.fail("this form");
    const auto t = m.type();
    if (!t) return d.fail("no type");
    integer_work(out);
    return d.handler(out, "szext" + typed_name(*t)) && d.simple(out, in, *t, {*t, Type::u32});
}
bool count(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {  // brev clz popc
    const auto t = m.type();
    if (!t || !is_integer(*t)) return d.fail("this type");
    integer_work(out);
    return d.handler(out, in.opcode + bits_name(*t)) &&
           d.simple(out, in, in.opcode == "brev" ? *t : Type::u32, {*t});
}

bool take_comparison(Modifiers& m, Instr& out) {
    for (const char* name : {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu",
                             "leu", "gtu", "geu", "num", "nan"})
        if (m.take(name)) {
            out.sub = static_cast<std::uint8_t>(*comparison(name));
            if (m.take("and")) out.sub2 = 1;
            if (m.take("or")) out.sub2 = 2;
            if (m.take("xor")) out.sub2 = 3;
            if (m.take("ftz")) out.flags |= flag::ftz;
            return true;
        }
    return false;
}
// The comparison's handler; unsigned for bit types.
std::string compare_name(Type t) {
    return is_integer(t) ? "setp" + typed_name(t) : std::string("setp.") + ptx::to_string(t);
}
bool compared(Decoder& d, const ptx::Instruction& in, Type t, Instr& out) {
    if (in.operands.size() != (out.sub2 ? 4u : 3u)) return d.fail("a different number of operands");
    if (is_integer(t) && out.sub > 5) return d.fail("this comparison of integers");
    out.pipe = t == Type::f64                                                               ? Pipe::fp64
               : t == Type::f16 || t == Type::f16x2 || t == Type::bf16 || t == Type::bf16x2 ? Pipe::fp16
                                                                                            : Pipe::alu;
    if (is_integer(t)) out.work = Work::integer;
    return d.sources(out, in, 1, 2, t) && (!out.sub2 || d.source(out, in.operands[3], Type::pred));
}
bool setp(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (!take_comparison(m, out)) return d.fail("no comparison");
    const auto t = m.type();
    if (!t || in.operands.empty()) return d.fail("no type");
    if (!d.handler(out, compare_name(*t))) return false;
    if (std::holds_alternative<ptx::Sink>(in.operands[0].value)) {
        if (!d.append(out, d.scratch_predicate(), true)) return false;
        if (in.operands[0].pair) {
            ptx::Operand second = in.operands[0];
            second.value = *in.operands[0].pair;
            second.pair.reset();
            if (!d.destination(out, second)) return false;
        }
    } else if (!d.destination(out, in.operands[0])) {
        return false;
    }
    if ((*t == Type::f16x2 || *t == Type::bf16x2) && out.destinations != 2 &&  // p|_
        !d.append(out, d.scratch_predicate(), true))
        return false;
    return compared(d, in, *t, out);
}
bool set(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (!take_comparison(m, out)) return d.fail("no comparison");
    const auto result = m.type(), t = m.type();
    if (!result || !t || in.operands.empty()) return d.fail("no type");
    const bool pair = *t == Type::f16x2 || *t == Type::bf16x2;
    switch (*result) {
        case Type::u32:
        case Type::s32:
        case Type::b32:
            out.imm = pair ? 0xffff : 0xffffffffll;
            break;
        case Type::u16:
        case Type::s16:
        case Type::b16:
            out.imm = 0xffff;
            break;
        case Type::f32:
            out.imm = 0x3f800000;
            break;
        case Type::f16:
        case Type::f16x2:
            out.imm = 0x3c00;
            break;
        case Type::bf16:
        case Type::bf16x2:
            out.imm = 0x3f80;
            break;
        default:
            return d.fail("this result type");
    }
    return d.handler(out, pair ? std::string("set2.") + ptx::to_string(*t) : compare_name(*t)) &&
           d.destination(out, in.operands[0]) && compared(d, in, *t, out);
}
bool selp(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    const auto t = m.type();
    if (!t) return d.fail("no type");
    out.pipe = Pipe::alu;
    out.flags |= flag::selects;
    return d.handler(out, *t == Type::pred                      ? "selp.pred"
                          : ptx::file_of(*t) == ptx::File::wide ? "selp.wide"
                                                                : "selp.narrow") &&
           d.simple(out, in, *t, {*t, *t, Type::pred});
}
bool slct(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (m.take("ftz")) out.flags |= flag::ftz;
    const auto t = m.type(), c = m.type();
    if (!t || !c) return d.fail("no type");
    out.sub = *c == Type::f32 ? 1 : 0;
    out.pipe = Pipe::alu;
    return d.handler(out, "slct" + bits_name(*t)) && d.simple(out, in, *t, {*t, *t, *c});
}

}  // namespace

void add_logic(DecodeTable& t) {
    for (const char* name : {"and", "or", "xor", "not", "cnot"}) t[name] = logic;
    t["shl"] = t["shr"] = shift;
    t["shf"] = funnel;
    t["prmt"] = prmt;
    t["lop3"] = lop3;
    t["fns"] = fns;
    t["bfe"] = t["bfi"] = field;
    t["bfind"] = bfind;
    t["bmsk"] = bmsk;
    t["szext"] = szext;
    t["brev"] = t["clz"] = t["popc"] = count;
    t["setp"] = setp;
    t["set"] = set;
    t["selp"] = selp;
    t["slct"] = slct;
}

}  // namespace emulator::decode
