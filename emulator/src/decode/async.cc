// The asynchronous family of sm_90: cp.async.bulk in all its forms, st.async and red.async, tensor maps,
// setmaxnreg. An address that follows the first one takes two sources, its base and a constant offset.
#include "emulator/src/decode/async.h"

namespace emulator::decode {

namespace flag = exec::flag;

namespace {

constexpr const char* kCompleteTx = "mbarrier::complete_tx::bytes";

// An address as two sources; `coordinates` (when not null) takes what stands beside the base.
bool place(Decoder& d, const ptx::Operand& operand, Instr& out,
           std::vector<ptx::Operand>* coordinates = nullptr) {
    const auto* address = std::get_if<ptx::Address>(&operand.value);
    if (!address || (!coordinates && !address->coordinates.empty())) return d.fail("an address of this form");
    ptx::Operand plain = operand;
    std::get<ptx::Address>(plain.value).coordinates.clear();
    if (coordinates) *coordinates = address->coordinates;
    if (!d.address(out, plain)) return false;
    if (out.has(flag::frame_relative)) return d.fail("a local address");
    const auto offset = static_cast<std::uint64_t>(out.imm);
    out.imm = 0;
    out.flags &= ~flag::narrow_address;
    return d.append(out, d.wide_constant(offset), false);
}

// The operation and type of a reduction, as exec/atomic.cc numbers them: sub2 is the operation plus one,
// rounding the kind, size the bytes of an element.
bool reduction_operation(Decoder& d, Modifiers& m, Instr& out) {
    static const std::map<std::string, std::uint8_t, std::less<>> operations = {
        {"add", 0}, {"min", 1}, {"max", 2}, {"and", 3}, {"or", 4}, {"xor", 5}, {"inc", 8}, {"dec", 9}};
    for (const auto& [name, code] : operations)
        if (m.take(name)) {
            out.sub2 = static_cast<std::uint8_t>(code + 1);
            return true;
        }
    return d.fail("this operation");
}
bool reduction_type(Decoder& d, Modifiers& m, Instr& out) {
    m.take("noftz");
    static const std::map<Type, std::uint8_t> kinds = {
        {Type::u32, 0}, {Type::b32, 0}, {Type::s32, 1}, {Type::u64, 2}, {Type::b64, 2},
        {Type::s64, 3}, {Type::f32, 4}, {Type::f64, 5}, {Type::f16, 6}, {Type::bf16, 7}};
    const auto t = m.type();
    const auto kind = t ? kinds.find(*t) : kinds.end();
    if (kind == kinds.end()) return d.fail("this type");
    out.rounding = kind->second;
    out.size = static_cast<std::uint8_t>(ptx::size_bytes(*t));
    const int operation = out.sub2 - 1;
    const bool floating = out.rounding >= 4;
    const bool bits = *t == Type::b32 || *t == Type::b64, logical = operation >= 3 && operation <= 5;
    if (bits != logical || (floating && operation > 2) ||
        ((*t == Type::f32 || *t == Type::f64) && operation != 0) || (operation >= 8 && *t != Type::u32))
        return d.fail("this operation on this type");
    if (*t == Type::f32) out.flags |= flag::ftz;
    return true;
}

// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor. sub: 0 load, 1 store. vector: dimensions. Sources of a
// load: destination, map, coordinates, mbarrier, (mask), (im2col offsets); of a store: map, coordinates,
// source. imm 1: im2col, 2: gather4 or
// scatter4, whose coordinates are the column and four rows.
bool tensor(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out, bool reduces) {
    const auto dimensions = m.take_any({"1d", "2d", "3d", "4d", "5d"});
    if (!dimensions) return d.fail("this form");
    out.vector = static_cast<std::uint8_t>((*dimensions)[0] - '0');
    out.size = 1;
    if (reduces && !reduction_operation(d, m, out)) return false;
    const auto to = m.take_any({"shared::cluster", "shared::cta"});
    const bool hint = m.take("L2::cache_hint");
    std::vector<ptx::Operand> coordinates;
    bool four = false;
    const auto append_coordinates = [&] {
        if (coordinates.size() != (four ? 5u : out.vector))
            return d.fail("a different number of coordinates");
        for (const ptx::Operand& c : coordinates)
            if (!d.source(out, c, Type::b32)) return false;
        return true;
    };
    const std::size_t n = in.operands.size() - (hint ? 1 : 0);
    if (!m.take("global")) return d.fail("this space");
    if (m.take("bulk_group")) {
        const bool im2col = m.take("im2col_no_offs");
        four = !im2col && !reduces && m.take("tile::scatter4");
        if (!im2col && !four) m.take("tile");  // the others stay over, and are not known
        if (to != "shared::cta" || n != 2 || (im2col && out.vector < 3) || (four && out.vector != 2))
            return d.fail("this form");
        out.sub = 1;
        if (!d.handler(out, "bulk.tensor") || !place(d, in.operands[0], out, &coordinates) ||
            !append_coordinates() || !place(d, in.operands[1], out))
            return false;
        out.imm = im2col ? 1 : four ? 2 : 0;
        return true;
    }
    const bool im2col = m.take("im2col");
    four = !im2col && m.take("tile::gather4");
    if (!im2col && !four) m.take("tile");
    if (im2col && out.vector < 3) return d.fail("im2col of fewer than three dimensions");
    if (four && out.vector != 2) return d.fail("four rows of another tensor than one of two dimensions");
    if (reduces || !to || !m.take(kCompleteTx)) return d.fail("this form");
    const bool multicast = m.take("multicast::cluster");
    m.take_any({"cta_group::1", "cta_group::2"});
    if (n != 3u + multicast + im2col) return d.fail("a different number of operands");
    if (to == "shared::cluster") out.flags |= flag::in_cluster;
    if (multicast) out.flags |= flag::explicit_count;
    if (!d.handler(out, "bulk.tensor") || !place(d, in.operands[0], out) ||
        !place(d, in.operands[1], out, &coordinates) || !append_coordinates() ||
        !place(d, in.operands[2], out))
        return false;
    if (multicast && !d.source(out, in.operands[3u + im2col], Type::b16)) return false;
    out.imm = four ? 2 : 0;
    if (!im2col) return true;
    const auto* offsets = std::get_if<ptx::Vector>(&in.operands[3].value);
    if (!offsets || offsets->elements.size() != out.vector - 2u)
        return d.fail("a different number of im2col offsets");
    if (!d.source(out, in.operands[3], Type::b16)) return false;
    out.imm = 1;
    return true;
}

}  // namespace

// sub: 0 global to shared, 1 shared to the shared memory of a block of the cluster, 2 shared to global.
// Sources: destination, source, size, then mbarrier (0, 1), (mask).
bool bulk_copy(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    const bool reduces = m.take("reduce");
    out.pipe = Pipe::lsu;
    out.size = 1;
    if (m.take("commit_group")) return d.handler(out, "bulk.commit_group");
    if (m.take("wait_group")) {
        out.sub = m.take("read") ? 1 : 0;
        const auto n = in.operands.size() == 1 ? d.literal(in.operands[0]) : std::nullopt;
        if (!n || *n < 0) return d.fail("this form");
        out.imm = *n;
        return d.handler(out, "bulk.wait_group");
    }
    if (m.take("prefetch")) {  // into the L2 cache: no effect on what is computed
        for (const std::string& modifier : in.modifiers) m.take(modifier);
        return d.handler(out, "nothing");
    }
    if (m.take("tensor")) return tensor(d, in, m, out, reduces);
    // The spaces in the order of the text: destination, source.
    std::string to, from;
    for (const std::string& modifier : in.modifiers)
        if (modifier == "global" || modifier == "shared::cta" || modifier == "shared::cluster") {
            (to.empty() ? to : from) = modifier;
            m.take(modifier);
        }
    const bool grouped = m.take("bulk_group");
    if (!grouped && !m.take(kCompleteTx)) return d.fail("this completion");
    const bool multicast = m.take("multicast::cluster");
    const bool hint = m.take("L2::cache_hint");
    if (reduces && (!reduction_operation(d, m, out) || !reduction_type(d, m, out))) return false;
    const bool to_shared = to.starts_with("shared");
    if (grouped ? to != "global" || from != "shared::cta"
                : !to_shared || (from != "global" && (from != "shared::cta" || to != "shared::cluster")))
        return d.fail("these spaces");
    if ((multicast || reduces) && !grouped && from != (reduces ? "shared::cta" : "global"))
        return d.fail("these spaces");
    out.sub = grouped ? 2 : from == "global" ? 0 : 1;
    if (to == "shared::cluster") out.flags |= flag::in_cluster;
    if (multicast) out.flags |= flag::explicit_count;
    const std::size_t n = in.operands.size() - (hint ? 1 : 0);
    if (n != (grouped ? 3u : multicast ? 5u : 4u)) return d.fail("a different number of operands");
    if (!d.handler(out, "bulk.copy") || !place(d, in.operands[0], out) || !place(d, in.operands[1], out) ||
        !d.source(out, in.operands[2], Type::u32))
        return false;
    if (grouped) return true;
    if (!place(d, in.operands[3], out)) return false;
    return !multicast || d.source(out, in.operands[4], Type::b16);
}

// st.bulk: zeros in shared memory. Sources: address (two), size.
bool bulk_zero(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    m.take("weak");
    out.space = m.take("shared::cta") ? ptx::Space::shared : ptx::Space::generic;
    const auto value = in.operands.size() == 3 ? d.literal(in.operands[2]) : std::nullopt;
    if (!value || *value != 0) return d.fail("this initial value");
    out.pipe = Pipe::lsu;
    out.size = 8;
    return d.handler(out, "bulk.zero") && place(d, in.operands[0], out) &&
           d.source(out, in.operands[1], Type::u64);
}

// st.async and red.async. Sources: address, mbarrier, values. vector: values; sub2: the reduction.
bool async_store(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (in.opcode == "red") {
        if (!m.take("relaxed") || !m.take("cluster")) return d.fail("this form");
        if (!reduction_operation(d, m, out)) return false;
    } else {
        m.take("weak");
    }
    m.take("shared::cluster");
    if (!m.take(kCompleteTx)) return d.fail("this completion");
    out.flags |= flag::in_cluster;
    out.pipe = Pipe::lsu;
    const auto vector = m.take_any({"v2", "v4"});
    out.vector = vector ? static_cast<std::uint8_t>((*vector)[1] - '0') : 1;
    Type type = Type::b32;
    if (in.opcode == "red") {
        if (!reduction_type(d, m, out)) return false;
        if (out.rounding > 2) return d.fail("this type");
        type = out.size == 8 ? Type::b64 : Type::b32;
    } else {
        const auto t = m.type();
        if (!t || (ptx::size_bytes(*t) != 4 && ptx::size_bytes(*t) != 8)) return d.fail("this type");
        type = *t;
        out.size = static_cast<std::uint8_t>(ptx::size_bytes(*t));
    }
    if (in.operands.size() != 3) return d.fail("a different number of operands");
    if (!d.handler(out, "async.store") || !place(d, in.operands[0], out) || !place(d, in.operands[2], out) ||
        !d.source(out, in.operands[1], type))
        return false;
    return out.sources == 4 + out.vector || d.fail("a vector of another length");
}

// tensormap.replace: sub is the field, imm its ordinal. Sources: address, value. tensormap.cp_fenceproxy:
// sources: destination, source.
static bool tensormap(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    out.pipe = Pipe::lsu;
    out.size = 1;
    if (m.take("cp_fenceproxy")) {
        for (const char* name : {"global", "shared::cta", "tensormap::generic", "release", "sync", "aligned"})
            if (!m.take(name)) return d.fail("this form");
        if (!m.take_any({"cta", "cluster", "gpu", "sys"}) || in.operands.size() != 3)
            return d.fail("this form");
        return d.handler(out, "tensormap.copy") && place(d, in.operands[0], out) &&
               place(d, in.operands[1], out);
    }
    if (!m.take("replace") || !m.take("tile")) return d.fail("this form");
    static const char* const fields[] = {"global_address", "rank",           "box_dim",  "global_dim",
                                         "global_stride",  "element_stride", "elemtype", "interleave_layout",
                                         "swizzle_mode",   "fill_mode"};
    bool found = false;
    for (std::uint8_t i = 0; i < 10 && !found; ++i)
        if (m.take(fields[i])) {
            out.sub = i;
            found = true;
        }
    if (!found) return d.fail("this field");
    out.space = m.take("global") ? ptx::Space::global : ptx::Space::generic;
    if (m.take("shared::cta")) out.space = ptx::Space::shared;
    m.take("b1024");
    const bool wide = m.take("b64");
    if (!wide && !m.take("b32")) return d.fail("this type");
    const bool has_ordinal = out.sub >= 2 && out.sub <= 5;
    if (in.operands.size() != (has_ordinal ? 3u : 2u)) return d.fail("a different number of operands");
    if (!d.handler(out, "tensormap.replace") || !place(d, in.operands[0], out)) return false;
    if (has_ordinal) {
        const auto ordinal = d.literal(in.operands[1]);
        if (!ordinal || *ordinal < 0 || *ordinal > 4) return d.fail("this ordinal");
        out.imm = *ordinal;
    }
    return d.source(out, in.operands.back(), wide ? Type::b64 : Type::b32);
}

// imm: the registers asked for; sub 1: dec.
static bool setmaxnreg(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    out.sub = m.take("dec") ? 1 : 0;
    if (out.sub == 0 && !m.take("inc")) return d.fail("this form");
    m.take("sync");
    m.take("aligned");
    if (!m.take("u32") || in.operands.size() != 1) return d.fail("this form");
    const auto count = d.literal(in.operands[0]);
    if (!count || *count < 24 || *count > 256 || *count % 8 != 0) return d.fail("this register count");
    out.imm = *count;
    out.pipe = Pipe::control;
    return d.handler(out, "setmaxnreg");
}

void add_async(DecodeTable& t) {
    t["tensormap"] = tensormap;
    t["setmaxnreg"] = setmaxnreg;
}

}  // namespace emulator::decode
