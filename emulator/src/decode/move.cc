// mov, cvta, isspacep.
#include <algorithm>

#include "emulator/src/decode/decoder.h"
#include "emulator/src/exec/special.h"

namespace emulator::decode {
namespace {

using exec::SpecialRegister;

std::optional<SpecialRegister> special_register(const std::string& name, int component,
                                                std::int64_t& number) {
    static const std::map<std::string, SpecialRegister> vectors = {
        {"tid", SpecialRegister::tid_x},
        {"ntid", SpecialRegister::ntid_x},
        {"ctaid", SpecialRegister::ctaid_x},
        {"nctaid", SpecialRegister::nctaid_x},
        {"clusterid", SpecialRegister::clusterid_x},
        {"nclusterid", SpecialRegister::nclusterid_x},
        {"cluster_ctaid", SpecialRegister::cluster_ctaid_x},
        {"cluster_nctaid", SpecialRegister::cluster_nctaid_x}};
    static const std::map<std::string, SpecialRegister> scalars = {
        {"laneid", SpecialRegister::laneid},
        {"warpid", SpecialRegister::warpid},
        {"nwarpid", SpecialRegister::nwarpid},
        {"smid", SpecialRegister::smid},
        {"nsmid", SpecialRegister::nsmid},
        {"gridid", SpecialRegister::gridid},
        {"lanemask_eq", SpecialRegister::lanemask_eq},
        {"lanemask_le", SpecialRegister::lanemask_le},
        {"lanemask_lt", SpecialRegister::lanemask_lt},
        {"lanemask_ge", SpecialRegister::lanemask_ge},
        {"lanemask_gt", SpecialRegister::lanemask_gt},
        {"clock", SpecialRegister::clock},
        {"clock_hi", SpecialRegister::clock_hi},
        {"clock64", SpecialRegister::clock64},
        {"globaltimer", SpecialRegister::globaltimer},
        {"globaltimer_lo", SpecialRegister::globaltimer_lo},
        {"globaltimer_hi", SpecialRegister::globaltimer_hi},
        {"total_smem_size", SpecialRegister::total_smem_size},
        {"dynamic_smem_size", SpecialRegister::dynamic_smem_size},
        {"aggr_smem_size", SpecialRegister::aggr_smem_size},
        {"cluster_ctarank", SpecialRegister::cluster_ctarank},
        {"cluster_nctarank", SpecialRegister::cluster_nctarank}};
    if (const auto it = vectors.find(name); it != vectors.end())
        return component == 3 ? SpecialRegister::zero
                              : static_cast<SpecialRegister>(static_cast<int>(it->second) + component);
    // What performance counters hold is undefined; a launch is not part of a device graph.
    if (name.starts_with("pm") || name == "current_graph_exec") return SpecialRegister::zero;
    if (const auto it = scalars.find(name); it != scalars.end()) return it->second;
    if (name.starts_with("envreg")) {
        number = std::atoi(name.c_str() + 6);
        return SpecialRegister::envreg;
    }
    // The parts of the reserved shared memory: 0 is the driver's, 1 that of cooperative groups.
    if (name == "reserved_smem_offset_begin" || name == "reserved_smem_offset_0")
        return SpecialRegister::reserved_smem;
    if (name == "reserved_smem_offset_1") {
        number = 512;
        return SpecialRegister::reserved_smem;
    }
    if (name == "reserved_smem_offset_end") {
        number = exec::kReservedShared;
        return SpecialRegister::reserved_smem;
    }
    if (name == "reserved_smem_offset_cap") return SpecialRegister::reserved_smem_cap;
    return std::nullopt;
}

std::uint32_t operand_bytes(const ptx::Operand& operand) {
    const auto* reg = std::get_if<ptx::Register>(&operand.value);
    return reg ? ptx::size_bytes(reg->type) : 0;
}

}  // namespace

// mov and cvt of a special register. `bits` are kept of it.
bool read_special(Decoder& d, const ptx::Operand& to, const ptx::Special& special, std::uint32_t bits,
                  Instr& out) {
    std::int64_t number = 0;
    const auto which = special_register(special.name, special.component, number);
    if (!which) return d.fail("special register %" + special.name);
    out.sub = static_cast<std::uint8_t>(*which);
    out.imm = number;
    out.size = static_cast<std::uint8_t>(bits / 8);
    using enum SpecialRegister;
    if (*which == clock || *which == clock_hi || *which == clock64 || *which == globaltimer ||
        *which == globaltimer_lo || *which == globaltimer_hi)
        out.control = exec::Control::timed;
    return d.handler(out, "special") && d.destination(out, to);
}

namespace {

bool mov(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    const bool vector = m.take("v4");
    const auto t = m.type();
    if (!t || in.operands.size() != 2) return d.fail("this form");
    const ptx::Operand &to = in.operands[0], &from = in.operands[1];
    if (*t == Type::pred) {
        if (const auto* special = std::get_if<ptx::Special>(&from.value)) {
            if (special->name != "is_explicit_cluster") return d.fail("special register %" + special->name);
            return d.handler(out, "mov.pred.explicit_cluster") && d.destination(out, to);
        }
        if (const auto value = d.literal(from)) {
            out.imm = *value;
            return d.handler(out, "mov.pred.literal") && d.destination(out, to);
        }
        return d.handler(out, "mov.pred") && d.simple(out, in, *t, {*t});
    }
    const auto* special = std::get_if<ptx::Special>(&from.value);
    if (vector) {  // all of %tid, %ntid, %ctaid or %nctaid
        const auto* elements = std::get_if<ptx::Vector>(&to.value);
        if (!special || !elements || elements->elements.size() != 4 || *t != Type::u32)
            return d.fail("this form");
        if (special->name != "tid" && special->name != "ntid" && special->name != "ctaid" &&
            special->name != "nctaid")
            return d.fail("special register %" + special->name);
        return read_special(d, to, *special, 32, out);
    }
    if (special) return read_special(d, to, *special, 8 * ptx::size_bytes(*t), out);
    const std::uint32_t bytes = ptx::size_bytes(*t);
    const auto *to_vector = std::get_if<ptx::Vector>(&to.value),
               *from_vector = std::get_if<ptx::Vector>(&from.value);
    if (to_vector || from_vector) {
        const auto& elements = (to_vector ? to_vector : from_vector)->elements;
        if (elements.empty() || (to_vector && from_vector)) return d.fail("this form");
        out.size = static_cast<std::uint8_t>(bytes / elements.size());
        if (out.size != 1 && out.size != 2 && out.size != 4 && out.size != 8) return d.fail("this form");
        for (const ptx::Operand& element : elements)
            if (const std::uint32_t b = operand_bytes(element); b != 0 && b != out.size)
                return d.fail("elements of another size");
        const Type element_type = out.size == 8 ? Type::b64 : out.size == 4 ? Type::b32 : Type::b16;
        if (*t == Type::b128)
            return d.handler(out, "mov.each") && d.destination(out, to) && d.source(out, from, Type::b64);
        return d.handler(out, to_vector ? "unpack" : "pack") && d.destination(out, to) &&
               d.source(out, from, to_vector ? *t : element_type);
    }
    if (*t == Type::b128)
        return d.handler(out, "mov.each") && d.destination(out, to) && d.source(out, from, Type::b64);
    if (const auto* symbol = std::get_if<ptx::Symbol>(&from.value); symbol && symbol->variable)
        if (const auto at = d.frame_offset(*symbol->variable)) {
            out.imm = *at + symbol->addend;
            return d.handler(out, "mov.local") && d.destination(out, to);
        }
    return d.handler(out, bytes == 8 ? "mov.wide" : "mov.narrow") && d.simple(out, in, *t, {*t});
}

bool cvta(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    out.sub = m.take("to") ? 1 : 0;
    const auto space = m.take_any(
        {"global", "shared", "shared::cta", "shared::cluster", "local", "const", "param", "param::entry"});
    if (!space) return d.fail("this space");
    out.space = space->starts_with("shared") ? ptx::Space::shared
                : *space == "local"          ? ptx::Space::local
                                             : ptx::Space::global;
    const auto t = m.type();
    if (!t || in.operands.size() != 2) return d.fail("this form");
    if (const auto* symbol = std::get_if<ptx::Symbol>(&in.operands[1].value); symbol && symbol->variable)
        if (d.frame_offset(*symbol->variable)) return d.fail("the address of a local variable here");
    if (out.space == ptx::Space::global && ptx::size_bytes(*t) == 8)
        return d.handler(out, "mov.wide") && d.simple(out, in, *t, {*t});
    return d.handler(out, "cvta") && d.simple(out, in, *t, {*t});
}
bool stack(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    const auto t = m.type();
    if (!t || (*t != Type::u32 && *t != Type::u64)) return d.fail("this type");
    d.code.allocates = true;
    if (!d.handler(out, in.opcode)) return false;
    if (in.opcode == "stacksave") return d.simple(out, in, *t, {});
    if (in.opcode == "stackrestore") return in.operands.size() == 1 && d.source(out, in.operands[0], *t);
    out.imm = 8;
    if (in.operands.size() == 3) {
        const auto align = d.literal(in.operands[2]);
        if (!align || *align <= 0 || *align > (1 << 23) || (*align & (*align - 1)) != 0)
            return d.fail("this alignment");
        out.imm = std::max<std::int64_t>(*align, 8);
    } else if (in.operands.size() != 2) {
        return d.fail("a different number of operands");
    }
    return d.destination(out, in.operands[0]) && d.source(out, in.operands[1], *t);
}
bool isspacep(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    const auto space = m.take_any(
        {"global", "shared::cta", "shared::cluster", "shared", "local", "const", "param", "param::entry"});
    if (!space) return d.fail("this space");
    if (*space == "shared::cluster") out.flags |= exec::flag::in_cluster;
    out.space = space->starts_with("shared")  ? ptx::Space::shared
                : *space == "local"           ? ptx::Space::local
                : *space == "const"           ? ptx::Space::constant
                : space->starts_with("param") ? ptx::Space::param
                                              : ptx::Space::global;
    return d.handler(out, "isspacep") && d.simple(out, in, Type::pred, {Type::u64});
}

// mapa and getctarank: the address of a place in another block's shared memory, and whose an address is.
bool mapa(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    out.sub = in.opcode == "mapa" ? 0 : 1;
    out.space = m.take("shared::cluster") ? ptx::Space::shared : ptx::Space::generic;
    const auto t = m.type();
    if (!t || (*t != Type::u32 && *t != Type::u64)) return d.fail("this type");
    out.pipe = Pipe::alu;
    if (!d.handler(out, "mapa")) return false;
    return out.sub == 0 ? d.simple(out, in, *t, {*t, Type::u32}) : d.simple(out, in, Type::u32, {*t});
}

}  // namespace

void add_move(DecodeTable& t) {
    t["mov"] = mov;
    t["cvta"] = cvta;
    t["isspacep"] = isspacep;
    t["mapa"] = t["getctarank"] = mapa;
    t["alloca"] = t["stacksave"] = t["stackrestore"] = stack;
}

}  // namespace emulator::decode
