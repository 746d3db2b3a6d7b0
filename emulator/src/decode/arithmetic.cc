// add sub mul mad fma div rem min max abs neg and the other arithmetic, integer and floating.
#include "emulator/src/decode/decoder.h"

namespace emulator::decode {
namespace {

namespace flag = exec::flag;

bool is_half(Type t) { return t == Type::f16 || t == Type::bf16 || t == Type::f16x2 || t == Type::bf16x2; }
bool is_float(Type t) { return t == Type::f32 || t == Type::f64 || t == Type::f32x2; }
// add.f32.f16 and the like: the narrow type of the operands but the last.
std::optional<Type> mixed_with(Modifiers& m, Type t) {
    if (t != Type::f32) return std::nullopt;
    return m.take("f16")    ? std::optional(Type::f16)
           : m.take("bf16") ? std::optional(Type::bf16)
                            : std::nullopt;
}
bool is_16x2(Type t) { return t == Type::u16x2 || t == Type::s16x2; }
std::string name_of(Type t) { return std::string(".") + ptx::to_string(t); }

void take_float_flags(Modifiers& m, Instr& out) {
    if (m.take("ftz")) out.flags |= flag::ftz;
    if (m.take("sat")) out.flags |= flag::sat;
    if (m.take("relu")) out.flags |= flag::relu;
    if (m.take("NaN")) out.flags |= flag::nan_result;
    if (m.take("xorsign")) {
        out.flags |= flag::xorsign_abs;
        m.take("abs");
    }
    m.take("noftz");
}
bool take_rounding(Modifiers& m, Instr& out) {
    const auto rounding = m.take_any({"rn", "rz", "rm", "rp"});
    if (!rounding) return false;
    out.rounding = *rounding == "rn" ? 0 : *rounding == "rz" ? 1 : *rounding == "rm" ? 2 : 3;
    return true;
}
void set_work(Instr& out, Type t, Work f, Work d, Work h) {
    if (is_half(t)) {
        out.pipe = Pipe::fp16;
        out.work = h;
        out.work_amount = t == Type::f16x2 || t == Type::bf16x2 ? 2 : 1;
    } else if (t == Type::f64) {
        out.pipe = Pipe::fp64;
        out.work = d;
    } else {
        out.pipe = Pipe::fma;
        out.work = f;
        out.work_amount = t == Type::f32x2 ? 2 : 1;
    }
}
void integer_work(Instr& out) {
    out.pipe = Pipe::alu;
    out.work = Work::integer;
}

bool add_sub(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    const bool carry_out = m.take("cc");
    take_float_flags(m, out);
    const bool rounded = take_rounding(m, out);
    const auto t = m.type();
    if (!t) return d.fail("no type");
    if (const auto from = mixed_with(m, *t)) {
        set_work(out, *t, Work::fadd, Work::dadd, Work::hadd);
        out.sub = *from == Type::bf16 ? 1 : 0;
        return d.handler(out, in.opcode + ".mixed") && d.simple(out, in, *t, {*from, *t});
    }
    if (is_half(*t) && out.rounding != 0) return d.fail("this rounding of this type");
    if (is_float(*t) || is_half(*t)) {
        set_work(out, *t, Work::fadd, Work::dadd, Work::hadd);
        return d.handler(out, in.opcode + name_of(*t)) && d.simple(out, in, *t, {*t, *t});
    }
    if (rounded || (!is_integer(*t) && !is_16x2(*t))) return d.fail("this type");
    integer_work(out);
    if (carry_out) {
        out.flags |= flag::carry_out;
        if (!d.handler(out, in.opcode + "c" + bits_name(*t))) return false;
        if (in.operands.size() != 3) return d.fail("a different number of operands");
        return d.destination(out, in.operands[0]) && d.append(out, d.carry_flag(), true) &&
               d.sources(out, in, 1, 2, *t);
    }
    if (is_16x2(*t))
        return in.opcode == "add" && d.handler(out, in.opcode + name_of(*t)) &&
               d.simple(out, in, *t, {*t, *t});
    if (out.has(flag::sat)) {
        if (*t != Type::s32) return d.fail("this type with .sat");
        return d.handler(out, in.opcode + ".sat.s32") && d.simple(out, in, *t, {*t, *t});
    }
    return d.handler(out, in.opcode + bits_name(*t)) && d.simple(out, in, *t, {*t, *t});
}

bool add_sub_carry(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {  // addc subc
    out.flags |= flag::carry_in;
    if (m.take("cc")) out.flags |= flag::carry_out;
    const auto t = m.type();
    if (!t || !is_integer(*t)) return d.fail("this type");
    integer_work(out);
    if (in.operands.size() != 3) return d.fail("a different number of operands");
    return d.handler(out, in.opcode + bits_name(*t)) && d.destination(out, in.operands[0]) &&
           (!out.has(flag::carry_out) || d.append(out, d.carry_flag(), true)) &&
           d.sources(out, in, 1, 2, *t) && d.append(out, d.carry_flag(), false);
}

Type doubled(Type t) {
    switch (t) {
        case Type::u16:
            return Type::u32;
        case Type::s16:
            return Type::s32;
        case Type::u32:
            return Type::u64;
        case Type::s32:
            return Type::s64;
        default:
            return Type::none;
    }
}

bool mul(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    take_float_flags(m, out);
    take_rounding(m, out);
    const auto part = m.take_any({"lo", "hi", "wide"});
    const auto t = m.type();
    if (!t) return d.fail("no type");
    if (is_half(*t) && out.rounding != 0) return d.fail("this rounding of this type");
    if (is_float(*t) || is_half(*t)) {
        set_work(out, *t, Work::fmul, Work::dmul, Work::hmul);
        return d.handler(out, "mul" + name_of(*t)) && d.simple(out, in, *t, {*t, *t});
    }
    integer_work(out);
    if (!part || !is_integer(*t)) return d.fail("this form");
    if (*part == "wide")
        return d.handler(out, "mul.wide" + typed_name(*t)) && d.simple(out, in, doubled(*t), {*t, *t});
    return d.handler(out, "mul." + *part + (*part == "lo" ? bits_name(*t) : typed_name(*t))) &&
           d.simple(out, in, *t, {*t, *t});
}

bool mad(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {  // mad, madc, fma
    take_float_flags(m, out);
    take_rounding(m, out);
    const bool carry_in = in.opcode == "madc", carry_out = m.take("cc");
    const auto part = m.take_any({"lo", "hi", "wide"});
    const auto t = m.type();
    if (!t) return d.fail("no type");
    if (const auto from = in.opcode == "fma" ? mixed_with(m, *t) : std::nullopt) {
        set_work(out, *t, Work::ffma, Work::dfma, Work::hfma);
        out.sub = *from == Type::bf16 ? 1 : 0;
        return d.handler(out, "fma.mixed") && d.simple(out, in, *t, {*from, *from, *t});
    }
    if (is_half(*t) && out.rounding != 0) return d.fail("this rounding of this type");
    if (is_float(*t) || is_half(*t)) {
        set_work(out, *t, Work::ffma, Work::dfma, Work::hfma);
        return d.handler(out, "fma" + name_of(*t)) && d.simple(out, in, *t, {*t, *t, *t});
    }
    integer_work(out);
    if (!part || !is_integer(*t)) return d.fail("this form");
    if (carry_in || carry_out) {
        if (carry_in) out.flags |= flag::carry_in;
        if (carry_out) out.flags |= flag::carry_out;
        if (*part == "wide" || in.operands.size() != 4) return d.fail("this form");
        return d.handler(out, "madc." + *part + typed_name(*t)) && d.destination(out, in.operands[0]) &&
               (!carry_out || d.append(out, d.carry_flag(), true)) && d.sources(out, in, 1, 3, *t) &&
               (!carry_in || d.append(out, d.carry_flag(), false));
    }
    if (*part == "wide")
        return d.handler(out, "mad.wide" + typed_name(*t)) &&
               d.simple(out, in, doubled(*t), {*t, *t, doubled(*t)});
    if (out.has(flag::sat))
        return d.handler(out, "mad." + *part + ".sat" + typed_name(*t)) &&
               d.simple(out, in, *t, {*t, *t, *t});
    return d.handler(out, "mad." + *part + (*part == "lo" ? bits_name(*t) : typed_name(*t))) &&
           d.simple(out, in, *t, {*t, *t, *t});
}

bool mul24(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {  // mul24 mad24
    const auto part = m.take_any({"lo", "hi"});
    const bool sat = m.take("sat");
    const auto t = m.type();
    if (!part || !t) return d.fail("this form");
    integer_work(out);
    if (sat)
        return d.handler(out, in.opcode + "." + *part + ".sat" + typed_name(*t)) &&
               d.simple(out, in, *t, {*t, *t, *t});
    if (!d.handler(out, in.opcode + "." + *part + typed_name(*t))) return false;
    return in.opcode == "mul24" ? d.simple(out, in, *t, {*t, *t}) : d.simple(out, in, *t, {*t, *t, *t});
}

bool div(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (m.take("ftz")) out.flags |= flag::ftz;
    const bool approx = m.take("approx"), full = m.take("full");
    const bool rounded = take_rounding(m, out);
    const auto t = m.type();
    if (!t) return d.fail("no type");
    if (*t == Type::f32 && (approx || full)) {
        out.pipe = Pipe::xu;
        out.sub = full ? 1 : 0;
        return d.handler(out, "div.approx.f32") && d.simple(out, in, *t, {*t, *t});
    }
    if (is_float(*t) && rounded) {
        out.pipe = *t == Type::f64 ? Pipe::fp64 : Pipe::xu;
        return d.handler(out, "div" + name_of(*t)) && d.simple(out, in, *t, {*t, *t});
    }
    if (!is_integer(*t) || approx || full || rounded) return d.fail("this form");
    integer_work(out);
    return d.handler(out, "div" + typed_name(*t)) && d.simple(out, in, *t, {*t, *t});
}
bool rem(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    const auto t = m.type();
    if (!t || !is_integer(*t)) return d.fail("this type");
    integer_work(out);
    return d.handler(out, "rem" + typed_name(*t)) && d.simple(out, in, *t, {*t, *t});
}

bool minmax(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    take_float_flags(m, out);
    if (m.take("abs")) out.flags |= flag::magnitude;
    const auto t = m.type();
    if (!t) return d.fail("no type");
    out.pipe = is_half(*t) ? Pipe::fp16 : *t == Type::f64 ? Pipe::fp64 : Pipe::alu;
    if (is_integer(*t)) out.work = Work::integer;
    const bool three = *t == Type::f32 && in.operands.size() == 4;
    if (three ? out.has(flag::xorsign_abs) : out.has(flag::magnitude)) return d.fail("this form");
    if (three) return d.handler(out, in.opcode + "3.f32") && d.simple(out, in, *t, {*t, *t, *t});
    if (is_integer(*t)) {
        if (out.has(flag::relu))
            return d.handler(out, in.opcode + ".relu" + typed_name(*t)) && d.simple(out, in, *t, {*t, *t});
        return d.handler(out, in.opcode + typed_name(*t)) && d.simple(out, in, *t, {*t, *t});
    }
    return d.handler(out, in.opcode + name_of(*t)) && d.simple(out, in, *t, {*t, *t});
}

bool unary(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {  // abs neg
    if (m.take("ftz")) out.flags |= flag::ftz;
    const auto t = m.type();
    if (!t) return d.fail("no type");
    out.pipe = is_half(*t) ? Pipe::fp16 : *t == Type::f64 ? Pipe::fp64 : Pipe::alu;
    if (is_integer(*t)) {
        out.work = Work::integer;
        return d.handler(out, in.opcode + typed_name(*t)) && d.simple(out, in, *t, {*t});
    }
    return d.handler(out, in.opcode + name_of(*t)) && d.simple(out, in, *t, {*t});
}

// rcp sqrt rsqrt ex2 lg2 sin cos tanh
bool function(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (m.take("ftz")) out.flags |= flag::ftz;
    const bool approx = m.take("approx");
    const bool rounded = take_rounding(m, out);
    const auto t = m.type();
    if (!t || approx == rounded) return d.fail("this form");
    if (*t == Type::f64 && rounded && out.has(flag::ftz)) return d.fail("this form");
    out.pipe = *t == Type::f64 ? Pipe::fp64 : Pipe::xu;
    // Of the f64 forms only .approx.ftz is a rough start for iterations.
    const bool rough = approx && (*t != Type::f64 || out.has(flag::ftz));
    if (*t == Type::f64 && approx && !rough && in.opcode != "rsqrt") return d.fail("this form without .ftz");
    return d.handler(out, in.opcode + (rough ? ".approx" : "") + name_of(*t)) && d.simple(out, in, *t, {*t});
}

bool copysign(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    const auto t = m.type();
    if (!t) return d.fail("no type");
    out.pipe = Pipe::alu;
    return d.handler(out, "copysign" + name_of(*t)) && d.simple(out, in, *t, {*t, *t});
}
bool testp(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    static const char* const names[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
    for (std::uint8_t i = 0; i < 6; ++i)
        if (m.take(names[i])) out.sub = i;
    const auto t = m.type();
    if (!t) return d.fail("no type");
    out.pipe = Pipe::alu;
    return d.handler(out, "testp" + name_of(*t)) && d.simple(out, in, Type::pred, {*t});
}
bool sad(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    const auto t = m.type();
    if (!t || !is_integer(*t)) return d.fail("this type");
    integer_work(out);
    return d.handler(out, "sad" + typed_name(*t)) && d.simple(out, in, *t, {*t, *t, *t});
}
bool dot(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {  // dp4a dp2a
    std::string name = in.opcode;
    if (in.opcode == "dp2a") {
        const auto part = m.take_any({"lo", "hi"});
        if (!part) return d.fail("this form");
        name += "." + *part;
    }
    const auto a = m.type(), b = m.type();
    if (!a || !b) return d.fail("this form");
    integer_work(out);
    return d.handler(out, name + typed_name(*a) + typed_name(*b)) &&
           d.simple(out, in, Type::u32, {*a, *b, Type::u32});
}

}  // namespace

void add_arithmetic(DecodeTable& t) {
    t["add"] = t["sub"] = add_sub;
    t["addc"] = t["subc"] = add_sub_carry;
    t["mul"] = mul;
    t["mad"] = t["madc"] = t["fma"] = mad;
    t["mul24"] = t["mad24"] = mul24;
    t["div"] = div;
    t["rem"] = rem;
    t["min"] = t["max"] = minmax;
    t["abs"] = t["neg"] = unary;
    for (const char* name : {"rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh"}) t[name] = function;
    t["copysign"] = copysign;
    t["testp"] = testp;
    t["sad"] = sad;
    t["dp4a"] = t["dp2a"] = dot;
}

}  // namespace emulator::decode
