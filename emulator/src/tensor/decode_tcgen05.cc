// tcgen05. An address takes two sources, its base and a constant offset.
#include "emulator/src/decode/decoder.h"
#include "emulator/src/tensor/tensor_lanes.h"
#include "emulator/src/tensor/tensor_memory.h"

namespace emulator::decode {

namespace {

namespace flag = exec::flag;
namespace tensor_mma = exec::tensor_mma;
using exec::TensorKind;

bool place(Decoder& d, const ptx::Operand& operand, Instr& out) {
    if (!std::holds_alternative<ptx::Address>(operand.value)) return d.fail("an address is expected");
    if (!d.address(out, operand)) return false;
    if (out.has(flag::frame_relative)) return d.fail("a local address");
    const auto offset = static_cast<std::uint32_t>(out.imm);
    out.imm = 0;
    out.flags &= ~flag::narrow_address;
    return d.append(out, d.narrow_constant(offset), false);
}

void whole_warp(Instr& out) {
    out.control = Control::collective;
    out.flags |= flag::whole_warp | flag::cross_lane;
}

// Sources: address of the result (two), columns.
bool allocation(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    const bool gives = m.take("alloc"), takes = !gives && m.take("dealloc");
    if (!gives && !takes && !m.take("relinquish_alloc_permit")) return d.fail("this operation");
    if (!m.take("cta_group::1")) return d.fail("only .cta_group::1 is supported");
    if (!m.take("sync") || !m.take("aligned")) return d.fail(".sync.aligned is missing");
    whole_warp(out);
    if (!gives && !takes) return in.operands.empty() && d.handler(out, "tcgen05.relinquish");
    m.take("shared::cta");
    if (!m.take("b32") || in.operands.size() != 2) return d.fail("this form");
    if (gives)
        return d.handler(out, "tcgen05.alloc") && place(d, in.operands[0], out) &&
               d.source(out, in.operands[1], Type::u32);
    return d.handler(out, "tcgen05.dealloc") && d.source(out, in.operands[0], Type::b32) &&
           d.source(out, in.operands[1], Type::u32);
}

// rounding: the shape (exec::TensorLanes); vector: .xN; sub2 1: pack or unpack; imm: the split of 16x32bx2.
bool lanes(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out, bool store) {
    if (m.take("red")) return d.fail("tcgen05.ld.red");
    if (!m.take("sync") || !m.take("aligned")) return d.fail(".sync.aligned is missing");
    const auto shape = m.take_any({"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"});
    const auto count = m.take_any({"x128", "x64", "x32", "x16", "x8", "x4", "x2", "x1"});
    if (!shape || !count) return d.fail("the shape or its repetition is missing");
    const exec::TensorLanes form = exec::tensor_lanes(*shape);
    out.rounding = static_cast<std::uint8_t>(form);
    out.vector = static_cast<std::uint8_t>(std::stoi(count->substr(1)));
    out.sub2 = m.take(store ? "unpack::16b" : "pack::16b");
    const std::uint32_t registers = exec::tensor_registers(form, out.vector);
    if (registers > 128) return d.fail("this repetition");
    const bool splits = form == exec::TensorLanes::b16x32x2;
    if (!m.take("b32") || in.operands.size() != (splits ? 3u : 2u)) return d.fail("this form");
    const ptx::Operand& data = store ? in.operands.back() : in.operands[0];
    const ptx::Operand& address = in.operands[store ? 0 : 1];
    whole_warp(out);
    if (!store) {
        out.flags |= flag::loads | flag::async_product;  // follows undefined values and its registers itself
        if (!d.destination(out, data)) return false;
    }
    if (!d.handler(out, store ? "tcgen05.st" : "tcgen05.ld") || !place(d, address, out)) return false;
    if (splits) {
        const auto split = d.literal(in.operands[store ? 1 : 2]);
        if (!split || *split < 0 || *split >= exec::kTensorColumns) return d.fail("this split");
        out.imm = *split;
    }
    if (store && !d.source(out, data, Type::b32)) return false;
    const std::size_t given = store ? out.sources - 2u : out.destinations;
    return given == registers ||
           d.fail("a vector of " + std::to_string(registers) + " registers is expected");
}

// Sources: mbarrier (two), (mask).
bool commit(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (!m.take("cta_group::1")) return d.fail("only .cta_group::1 is supported");
    if (!m.take("mbarrier::arrive::one")) return d.fail("this completion");
    if (m.take("shared::cluster")) out.flags |= flag::in_cluster;
    const bool multicast = m.take("multicast::cluster");
    if (!m.take("b64") || in.operands.size() != (multicast ? 2u : 1u)) return d.fail("this form");
    out.sub2 = multicast;
    return d.handler(out, "tcgen05.commit") && place(d, in.operands[0], out) &&
           (!multicast || d.source(out, in.operands[1], Type::b16));
}

// sub: rows; sub2: units of 16 bytes of a row; imm: how the rows are spread, 0 as they are, 1 rows 0-31 to
// warps 0 and 2, 2 to warps 0 and 1. Sources: address (two), descriptor.
bool copy(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (!m.take("cta_group::1")) return d.fail("only .cta_group::1 is supported");
    const auto shape = m.take_any({"128x256b", "128x128b", "64x128b", "32x128b"});
    if (!shape || in.operands.size() != 2) return d.fail("this shape");
    out.sub = static_cast<std::uint8_t>(std::stoi(*shape));
    out.sub2 = *shape == "128x256b" ? 2 : 1;
    std::int64_t spread = 0;
    if (*shape == "64x128b") {
        spread = m.take("warpx2::02_13") ? 1 : m.take("warpx2::01_23") ? 2 : 0;
        if (spread == 0) return d.fail(".warpx2 is missing");
    }
    if (*shape == "32x128b" && !m.take("warpx4")) return d.fail(".warpx4 is missing");
    if (!d.handler(out, "tcgen05.cp") || !place(d, in.operands[0], out) ||
        !d.source(out, in.operands[1], Type::b64))
        return false;
    out.imm = spread;
    return true;
}

// sub: the kind; sub2: tensor_mma; vector: scales along k; imm: scale-input-d. Sources: D (two), A (two in
// Tensor Memory, else its descriptor), B, the instruction descriptor, (scales of A and B, two each), (four
// words of masked lanes), enable-input-d.
bool product(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (m.take("ws") || m.take("sp")) return d.fail("this kind of product");
    if (!m.take("cta_group::1")) return d.fail("only .cta_group::1 is supported");
    static constexpr std::pair<const char*, TensorKind> kinds[] = {
        {"kind::f16", TensorKind::f16},           {"kind::tf32", TensorKind::tf32},
        {"kind::f8f6f4", TensorKind::f8f6f4},     {"kind::i8", TensorKind::i8},
        {"kind::mxf8f6f4", TensorKind::mxf8f6f4}, {"kind::mxf4", TensorKind::mxf4},
        {"kind::mxf4nvf4", TensorKind::mxf4nvf4}};
    bool found = false;
    TensorKind kind = TensorKind::f16;
    for (const auto& [name, value] : kinds)
        if (!found && m.take(name)) {
            kind = value;
            found = true;
        }
    if (!found) return d.fail("this kind");
    out.sub = static_cast<std::uint8_t>(kind);
    const bool scaled = kind >= TensorKind::mxf8f6f4;
    out.vector = 0;
    if (scaled) {
        if (!m.take("block_scale")) return d.fail(".block_scale is missing");
        const auto size =
            m.take_any({"scale_vec::1X", "scale_vec::2X", "scale_vec::4X", "block16", "block32"});
        out.vector = kind == TensorKind::mxf8f6f4                              ? 1
                     : !size || *size == "scale_vec::2X" || *size == "block32" ? 2
                                                                               : 4;
        const char* vectors[] = {"", "scale_vec::1X", "scale_vec::2X", "", "scale_vec::4X"};
        const char* block = out.vector == 4 ? "block16" : "block32";
        if ((size && *size != vectors[out.vector] && *size != block) ||
            (!size && kind == TensorKind::mxf4nvf4) || (out.vector == 4 && kind == TensorKind::mxf4))
            return d.fail("this size of scaled blocks");
        out.sub2 |= tensor_mma::scaled;
    }
    m.take_any({"collector::a::fill", "collector::a::use", "collector::a::lastuse", "collector::a::discard"});
    const std::size_t n = in.operands.size();
    if (n < (scaled ? 7u : 5u)) return d.fail("too few operands");
    if (!d.handler(out, "tcgen05.mma") || !place(d, in.operands[0], out)) return false;
    if (std::holds_alternative<ptx::Address>(in.operands[1].value)) {
        out.sub2 |= tensor_mma::a_in_memory;
        if (!place(d, in.operands[1], out)) return false;
    } else if (!d.source(out, in.operands[1], Type::b64)) {
        return false;
    }
    if (!d.source(out, in.operands[2], Type::b64) || !d.source(out, in.operands[3], Type::b32)) return false;
    std::size_t next = 4;
    if (scaled) {
        if (!place(d, in.operands[4], out) || !place(d, in.operands[5], out)) return false;
        next = 6;
    } else if (const auto* masked = std::get_if<ptx::Vector>(&in.operands[4].value)) {
        if (masked->elements.size() != 4) return d.fail("disable-output-lane has four registers");
        if (!d.source(out, in.operands[4], Type::b32)) return false;
        out.sub2 |= tensor_mma::masked;
        next = 5;
    }
    if (n <= next || !d.source(out, in.operands[next++], Type::pred))
        return d.fail("enable-input-d is missing");
    std::int64_t scale_d = 0;
    if (n > next) {
        const auto scale = d.literal(in.operands[next++]);
        if (!scale || *scale < 0 || *scale > 15 || (kind != TensorKind::f16 && kind != TensorKind::tf32))
            return d.fail("this scale-input-d");
        scale_d = *scale;
    }
    if (n != next) return d.fail("a different number of operands");
    out.imm = scale_d;
    out.pipe = Pipe::tensor;
    return true;
}

bool tcgen05(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    const std::string& target = d.module.target;  // the architectures with Tensor Memory: 100, 101, 103, 110
    const bool has = (target.starts_with("sm_10") || target.starts_with("sm_11")) &&
                     (target.ends_with("a") || target.ends_with("f"));
    if (!has) return d.fail("tcgen05 needs .target sm_100a, or another architecture with Tensor Memory");
    out.pipe = Pipe::control;
    if (m.take("ld")) return lanes(d, in, m, out, false);
    if (m.take("st")) return lanes(d, in, m, out, true);
    if (m.take("mma")) return product(d, in, m, out);
    if (m.take("commit")) return commit(d, in, m, out);
    if (m.take("cp")) return copy(d, in, m, out);
    const bool after = m.take("fence::after_thread_sync");
    if (after || m.take("fence::before_thread_sync")) {
        out.sub = after;
        return in.operands.empty() && d.handler(out, "tcgen05.fence");
    }
    const bool loads = m.take("wait::ld");
    if (loads || m.take("wait::st")) {
        if (!m.take("sync") || !m.take("aligned")) return d.fail(".sync.aligned is missing");
        whole_warp(out);
        out.sub = loads;
        return in.operands.empty() && d.handler(out, "tcgen05.wait");
    }
    return allocation(d, in, m, out);
}

}  // namespace

void add_tcgen05(DecodeTable& table) { table["tcgen05"] = tcgen05; }

}  // namespace emulator::decode
