// cvt and its special pairs.
#include <algorithm>

#include "emulator/src/decode/decoder.h"

namespace emulator::decode {
namespace {

namespace flag = exec::flag;

std::optional<std::uint8_t> kind_of(Type t) {
    switch (t) {
        case Type::u8:
        case Type::b8:
            return 0;
        case Type::s8:
            return 1;
        case Type::u16:
        case Type::b16:
            return 2;
        case Type::s16:
            return 3;
        case Type::u32:
        case Type::b32:
            return 4;
        case Type::s32:
            return 5;
        case Type::u64:
        case Type::b64:
            return 6;
        case Type::s64:
            return 7;
        case Type::f16:
            return 8;
        case Type::bf16:
            return 9;
        case Type::f32:
            return 10;
        case Type::f64:
            return 11;
        default:
            return std::nullopt;
    }
}

// The 4- and 6-bit formats, by number in exec/convert.cc.
std::optional<std::uint8_t> narrow_format(Type t) {
    if (t == Type::e2m1x2) return 0;
    if (t == Type::e2m3x2) return 1;
    if (t == Type::e3m2x2) return 2;
    return std::nullopt;
}

bool one_register(Decoder& d, const ptx::Instruction& in, Instr& out, std::initializer_list<Type> types) {
    return d.simple(out, in, Type::none, types);
}

// cvt.pack.sat.TYPE.s32(.b32): two numbers clamped to TYPE, of `size` bits, and c above them.
bool pack(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (!m.take("sat")) return d.fail("this form");
    const auto to = m.take_any({"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"});
    if (!to || m.type() != Type::s32) return d.fail("these types");
    if ((*to)[0] == 's') out.flags |= flag::is_signed;
    out.size = static_cast<std::uint8_t>(std::stoi(to->substr(1)));
    out.pipe = Pipe::alu;
    if (out.size == 16)
        return d.handler(out, "cvt.pack") && d.simple(out, in, Type::b32, {Type::s32, Type::s32});
    if (m.type() != Type::b32) return d.fail("these types");
    return d.handler(out, "cvt.pack") && d.simple(out, in, Type::b32, {Type::s32, Type::s32, Type::b32});
}

bool cvt(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (m.take("pack")) return pack(d, in, m, out);
    if (m.take("ftz")) out.flags |= flag::ftz;
    const bool finite = m.take("satfinite");
    if (finite) out.flags |= flag::satfinite;
    if (m.take("sat")) out.flags |= flag::sat;
    if (m.take("relu")) out.flags |= flag::relu;
    bool rounded = true, integral = false;
    const auto rounding = m.take_any({"rni", "rzi", "rmi", "rpi", "rna", "rn", "rz", "rm", "rp"});
    if (!rounding) {
        rounded = false;
    } else {
        integral = rounding->size() == 3 && rounding->back() == 'i';
        const char c = (*rounding)[1];
        out.rounding = c == 'n' ? 0 : c == 'z' ? 1 : c == 'm' ? 2 : 3;
        if (*rounding == "rna") out.rounding = 4;
    }
    const auto to = m.type(), from = m.type();
    if (!to || !from) return d.fail("types");
    out.pipe = Pipe::alu;

    // packed and narrow formats
    if ((*to == Type::f16x2 || *to == Type::bf16x2) && *from == Type::f32) {
        out.sub2 = *to == Type::f16x2 ? 8 : 9;
        return d.handler(out, "cvt.x2.f32") && d.simple(out, in, Type::b32, {Type::f32, Type::f32});
    }
    if (*to == Type::e4m3x2 || *to == Type::e5m2x2) {
        out.sub = *to == Type::e4m3x2 ? 0 : 1;
        if (!finite || *rounding != "rn") return d.fail("this form");
        if (*from == Type::f32)
            return d.handler(out, "cvt.fp8.f32") && d.simple(out, in, Type::b16, {Type::f32, Type::f32});
        if (*from == Type::f16x2)
            return d.handler(out, "cvt.fp8.f16x2") && d.simple(out, in, Type::b16, {Type::b32});
        return d.fail("these types");
    }
    if (const auto format = narrow_format(*to)) {
        out.sub = *format;
        if (!finite || rounding != "rn" || *from != Type::f32) return d.fail("this form");
        return d.handler(out, "cvt.narrow.f32") && d.simple(out, in, *to, {Type::f32, Type::f32});
    }
    if (const auto format = narrow_format(*from)) {
        out.sub = *format;
        if (rounding != "rn" || finite || *to != Type::f16x2) return d.fail("this form");
        return d.handler(out, "cvt.f16x2.narrow") && d.simple(out, in, Type::b32, {*from});
    }
    if (*to == Type::ue8m0x2) {
        if ((rounding != "rz" && rounding != "rp") || out.has(flag::relu)) return d.fail("this form");
        if (*from == Type::f32)
            return d.handler(out, "cvt.ue8m0x2.f32") && d.simple(out, in, Type::b16, {Type::f32, Type::f32});
        if (*from == Type::bf16x2)
            return d.handler(out, "cvt.ue8m0x2.bf16x2") && d.simple(out, in, Type::b16, {Type::b32});
        return d.fail("these types");
    }
    if (*from == Type::ue8m0x2) {
        if (rounding != "rn" || finite || out.has(flag::relu) || *to != Type::bf16x2)
            return d.fail("this form");
        return d.handler(out, "cvt.bf16x2.ue8m0x2") && d.simple(out, in, Type::b32, {Type::b16});
    }
    if (*from == Type::e4m3x2 || *from == Type::e5m2x2) {
        out.sub = *from == Type::e4m3x2 ? 0 : 1;
        if (*to != Type::f16x2) return d.fail("these types");
        return d.handler(out, "cvt.f16x2.fp8") && d.simple(out, in, Type::b32, {Type::b16});
    }
    if (*to == Type::tf32 && *from == Type::f32)
        return d.handler(out, "cvt.tf32.f32") && d.simple(out, in, Type::b32, {Type::f32});

    const auto source_kind = kind_of(*from), result_kind = kind_of(*to);
    if (!source_kind || !result_kind) return d.fail("these types");
    out.sub = *source_kind;
    out.sub2 = *result_kind;
    const bool from_float = out.sub >= 8, to_float = out.sub2 >= 8;
    if (from_float && !to_float && !integral)
        return d.fail("a float to an integer without an integer rounding");
    if (!from_float && !to_float && rounded) return d.fail("a rounding between integers");
    if (!from_float && to_float && !rounded) return d.fail("an integer to a float without a rounding");
    if (from_float && to_float && out.sub2 < out.sub && !rounded)
        return d.fail("a narrowing without a rounding");
    out.imm = integral ? 1 : 0;
    if (finite && (out.sub != 10 || (out.sub2 != 8 && out.sub2 != 9))) return d.fail("this form");
    if (from_float != to_float || out.sub == 11 || out.sub2 == 11) out.pipe = Pipe::xu;

    if (in.operands.size() == 2)
        if (const auto* special = std::get_if<ptx::Special>(&in.operands[1].value)) {
            if (to_float || from_float || is_signed(*from) || out.has(flag::sat))
                return d.fail("these types of a special register");
            return read_special(d, in.operands[0], *special,
                                8 * std::min(ptx::size_bytes(*to), ptx::size_bytes(*from)), out);
        }
    const auto* result = std::get_if<ptx::Register>(&in.operands.at(0).value);
    const auto* operand =
        in.operands.size() == 2 ? std::get_if<ptx::Register>(&in.operands[1].value) : nullptr;
    const bool wide_result = result && ptx::file_of(result->type) == ptx::File::wide;
    const bool wide_source = operand && ptx::file_of(operand->type) == ptx::File::wide;
    out.size = result ? static_cast<std::uint8_t>(ptx::size_bytes(result->type)) : 4;
    std::string name = "cvt";
    const bool plain = !out.has(flag::sat | flag::relu | flag::satfinite);
    if (operand && result && plain) {
        if (wide_result && !wide_source && out.sub == 4 && out.sub2 >= 6 && out.sub2 < 8)
            name = "cvt.u64.u32";
        if (wide_result && !wide_source && out.sub == 5 && out.sub2 >= 6 && out.sub2 < 8)
            name = "cvt.s64.s32";
        if (!wide_result && wide_source && out.size == 4 && (out.sub == 6 || out.sub == 7) &&
            (out.sub2 == 4 || out.sub2 == 5))
            name = "cvt.u32.u64";
        if (out.sub == 5 && out.sub2 == 10 && out.rounding == 0 && !wide_source) name = "cvt.rn.f32.s32";
        if (out.sub == 8 && out.sub2 == 10) name = "cvt.f32.f16";
        if (out.sub == 10 && out.sub2 == 8 && out.rounding == 0 && !integral) name = "cvt.rn.f16.f32";
        if (out.sub == 9 && out.sub2 == 10 && !out.has(flag::ftz)) name = "cvt.f32.bf16";
        if (out.sub == 10 && out.sub2 == 9 && out.rounding == 0 && !integral && !out.has(flag::ftz))
            name = "cvt.rn.bf16.f32";
    }
    if (operand && out.sub == 10 && out.sub2 == 10 && out.has(flag::sat) && !rounded)
        name = "cvt.sat.f32.f32";
    return d.handler(out, name) && one_register(d, in, out, {operand ? Type::none : *from});
}

}  // namespace

void add_convert(DecodeTable& t) { t["cvt"] = cvt; }

}  // namespace emulator::decode
