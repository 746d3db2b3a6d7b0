// ld st atom red cp.async, fences and hints.
#include "emulator/src/decode/async.h"
#include "emulator/src/decode/decoder.h"

namespace emulator::decode {
namespace {

namespace flag = exec::flag;
using ptx::Space;

Space take_space(Modifiers& m, Instr& out) {
    if (m.take("global")) return Space::global;
    if (m.take("shared::cluster")) {
        out.flags |= flag::in_cluster;
        return Space::shared;
    }
    if (m.take("shared") || m.take("shared::cta")) return Space::shared;
    if (m.take("local")) return Space::local;
    if (m.take("const")) return Space::constant;
    if (m.take("param") || m.take("param::entry") || m.take("param::func")) return Space::param;
    return Space::generic;
}

// Caching and eviction do not change what is computed, but .nc may read stale data. True: an operand with a
// cache policy follows.
bool take_hints(Modifiers& m, Instr& out) {
    m.take_any({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
    if (m.take("nc")) out.flags |= flag::non_coherent;
    m.take("unified");
    m.take_any(
        {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"});
    m.take_any({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
    m.take_any({"L2::64B", "L2::128B", "L2::256B"});
    return m.take("L2::cache_hint");
}
bool take_scope(Modifiers& m, Instr& out) {
    const auto scope = m.take_any({"cta", "cluster", "gpu", "sys", "gl"});
    if (scope && (*scope == "cta" || *scope == "cluster")) out.flags |= flag::block_scope;
    return scope.has_value();
}
void take_semantics(Modifiers& m, Instr& out) {
    if (m.take("volatile")) out.flags |= flag::is_volatile;
    if (m.take("relaxed")) out.flags |= flag::is_volatile;
    if (m.take("mmio")) out.flags |= flag::is_volatile;
    if (m.take("acquire")) out.flags |= flag::is_volatile | flag::acquire;
    if (m.take("release")) out.flags |= flag::is_volatile | flag::release;
    if (m.take("acq_rel")) out.flags |= flag::is_volatile | flag::acquire | flag::release;
    m.take("weak");
    take_scope(m, out);
}

const char* space_name(const Instr& in) {
    switch (in.space) {
        case Space::global:
            return ".global";
        case Space::shared:
            return in.has(flag::in_cluster) ? ".cluster" : ".shared";
        case Space::local:
            return ".local";
        case Space::constant:
            return ".constant";
        default:
            return ".generic";
    }
}

// A .param access is the launch's arguments, or the frame.
bool param_space(Decoder& d, const ptx::Operand& operand, bool load, Instr& out, bool& is_argument) {
    is_argument = false;
    const auto* address = std::get_if<ptx::Address>(&operand.value);
    if (!address) return d.fail("an address of this form");
    if (const auto* symbol = std::get_if<ptx::Symbol>(&address->base)) {
        if (!symbol->variable) return d.fail("an address of this form");
        if (d.is_kernel_parameter(*symbol->variable)) {
            if (!load) return d.fail("a store to a kernel's parameter");
            is_argument = true;
            out.imm = static_cast<std::int64_t>(symbol->variable->offset) + symbol->addend + address->offset;
            return true;
        }
        if (!d.frame_offset(*symbol->variable)) return d.fail("an address of this form");
        out.space = Space::local;
        out.flags |= flag::local_param;
        return true;
    }
    out.space = d.function.is_kernel ? Space::global : Space::local;
    if (out.space == Space::local) out.flags |= flag::local_param;
    return true;
}

bool load_store(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    const bool load = in.opcode != "st";
    if (!load && m.take("async")) return async_store(d, in, m, out);
    if (!load && m.take("bulk")) return bulk_zero(d, in, m, out);
    if (in.opcode == "ldu") m.take("nc");
    take_semantics(m, out);
    out.space = take_space(m, out);
    const bool policy = take_hints(m, out);
    const auto vector = m.take_any({"v2", "v4", "v8"});
    auto t = m.type();
    if (!t || in.operands.size() != (policy ? 3u : 2u)) return d.fail("this form");
    out.vector = vector ? static_cast<std::uint8_t>((*vector)[1] - '0') : 1;
    out.size = static_cast<std::uint8_t>(ptx::size_bytes(*t));
    if (is_signed(*t)) out.flags |= flag::is_signed;
    if (*t == Type::b128) {
        out.size = 8;
        out.vector = static_cast<std::uint8_t>(out.vector * 2);
    }
    if (out.size == 0 || out.size * out.vector > 32) return d.fail("this type");
    out.pipe = Pipe::lsu;
    const ptx::Operand &data = in.operands[load ? 0 : 1], &place = in.operands[load ? 1 : 0];
    bool argument = false;
    if (out.space == Space::param && !param_space(d, place, load, out, argument)) return false;
    if (const auto* reg = std::get_if<ptx::Register>(&data.value);
        reg && load && ptx::size_bytes(reg->type) == 2)
        out.flags |= flag::narrow_gap;
    if (load) {
        out.flags |= flag::loads;
        if (!d.destination(out, data)) return false;
        if (out.destinations != out.vector) return d.fail("a vector of another length");
        if (argument) {
            std::int64_t end = out.imm + out.size * out.vector;
            if (out.imm < 0 || end > static_cast<std::int64_t>(d.function.parameter_bytes))
                return d.fail("an address outside the parameters");
            out.pipe = Pipe::uniform;
            return d.handler(out, "ld.param");
        }
        return d.handler(out, std::string("ld") + space_name(out)) && d.address(out, place);
    }
    const Type literal_type = out.size == 8 ? (*t == Type::f64 ? Type::f64 : Type::b64) : *t;
    if (!d.handler(out, std::string("st") + space_name(out)) || !d.address(out, place)) return false;
    const auto* reg = std::get_if<ptx::Register>(&data.value);
    const auto* list = std::get_if<ptx::Vector>(&data.value);
    if (reg) {
        if (!d.source(out, data, Type::none)) return false;
    } else if (list) {
        for (const ptx::Operand& element : list->elements)
            if (!d.source(out, element,
                          std::holds_alternative<ptx::Register>(element.value) ? Type::none : literal_type))
                return false;
    } else if (!d.source(out, data, literal_type)) {
        return false;
    }
    if (out.sources != 1 + out.vector) return d.fail("a vector of another length");
    return true;
}

bool atomic(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {  // atom red
    const bool red = in.opcode == "red";
    if (red && m.take("async")) return async_store(d, in, m, out);
    if (red) out.flags |= flag::reduction;
    take_semantics(m, out);
    out.flags |= flag::is_volatile | flag::loads;
    out.space = take_space(m, out);
    if (out.space != Space::global && out.space != Space::shared && out.space != Space::generic)
        return d.fail("this space");
    static const char* const operations[] = {"add", "min",  "max", "and", "or",
                                             "xor", "exch", "cas", "inc", "dec"};
    bool found = false;
    for (std::uint8_t i = 0; i < 10; ++i)
        if (m.take(operations[i])) {
            out.sub = i;
            found = true;
        }
    if (!found) return d.fail("this operation");
    const bool policy = m.take("L2::cache_hint");
    m.take("noftz");
    const auto vector = m.take_any({"v2", "v4", "v8"});
    const auto t = m.type();
    if (!t) return d.fail("no type");
    static const std::map<Type, std::uint8_t> kinds = {
        {Type::u32, 0},   {Type::b32, 0},    {Type::s32, 1},  {Type::u64, 2},  {Type::b64, 2},
        {Type::s64, 3},   {Type::f32, 4},    {Type::f64, 5},  {Type::f16, 6},  {Type::bf16, 7},
        {Type::f16x2, 8}, {Type::bf16x2, 9}, {Type::b16, 10}, {Type::u16, 10}, {Type::b128, 11}};
    const auto kind = kinds.find(*t);
    if (kind == kinds.end()) return d.fail("this type");
    out.sub2 = kind->second;
    const bool bits_only = out.sub2 == 10 || out.sub2 == 11;
    if (bits_only && out.sub != 6 && out.sub != 7) return d.fail("this operation on this type");
    const bool real = out.sub2 >= 4 && out.sub2 <= 9;
    if (real && (out.sub > 2 || (out.sub > 0 && out.sub2 <= 5))) return d.fail("this operation on this type");
    if ((out.sub == 8 || out.sub == 9) && *t != Type::u32) return d.fail("this operation on this type");
    out.size = static_cast<std::uint8_t>(*t == Type::b128 ? 16 : ptx::size_bytes(*t));
    out.vector = vector ? static_cast<std::uint8_t>((*vector)[1] - '0') : 1;
    out.pipe = Pipe::lsu;
    const std::size_t values = out.sub == 7 ? 2 : 1;
    if (in.operands.size() != (red ? 1u : 2u) + values + (policy ? 1u : 0u))
        return d.fail("a different number of operands");
    std::size_t next = 0;
    if (!red) {
        if (std::holds_alternative<ptx::Sink>(in.operands[0].value)) {
            out.flags |= flag::reduction;
        } else if (!d.destination(out, in.operands[0])) {
            return false;
        }
        next = 1;
    }
    if (!d.handler(out, "atom") || !d.address(out, in.operands[next++])) return false;
    const Type value_type = *t == Type::b128 ? Type::b64 : *t;
    return d.sources(out, in, next, values, value_type);
}

bool cp(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (!m.take("async")) return d.fail("this form");
    if (m.take("bulk")) return bulk_copy(d, in, m, out);
    out.pipe = Pipe::lsu;
    if (m.take("mbarrier")) {
        if (!m.take("arrive")) return d.fail("this form");
        out.sub = m.take("noinc") ? 1 : 0;
        m.take_any({"shared", "shared::cta"});
        m.take("b64");
        return in.operands.size() == 1 && d.handler(out, "cp.async.mbarrier.arrive") &&
               d.address(out, in.operands[0]);
    }
    if (m.take("commit_group")) return d.handler(out, "cp.async.commit_group");
    if (m.take("wait_all")) return d.handler(out, "cp.async.wait_all");
    if (m.take("wait_group")) {
        const auto n = in.operands.size() == 1 ? d.literal(in.operands[0]) : std::nullopt;
        if (!n) return d.fail("this form");
        out.imm = *n;
        return d.handler(out, "cp.async.wait_group");
    }
    const bool cg = m.take("cg");
    if (!cg && !m.take("ca")) return d.fail("this form");
    if (!m.take("shared") && !m.take("shared::cta") && !m.take("shared::cluster"))
        return d.fail("this space");
    if (!m.take("global")) return d.fail("this space");
    m.take_any({"L2::64B", "L2::128B", "L2::256B"});
    const bool policy = m.take("L2::cache_hint");
    const std::size_t count = in.operands.size() - (policy ? 1 : 0);
    if (count < 3 || count > 4) return d.fail("this form");
    const auto bytes = d.literal(in.operands[2]);
    if (!bytes || (*bytes != 4 && *bytes != 8 && *bytes != 16) || (cg && *bytes != 16))
        return d.fail("this size");
    if (!d.handler(out, "cp.async") || !d.address(out, in.operands[0])) return false;
    const std::int64_t shared_offset = out.imm;
    if (!d.address(out, in.operands[1])) return false;
    out.target = static_cast<std::uint32_t>(out.imm);
    if (out.imm < 0 || out.imm > 0xffffffffll) return d.fail("an offset of this size");
    out.imm = shared_offset;
    out.flags &= ~flag::narrow_address;
    if (out.has(flag::frame_relative)) return d.fail("a local address");
    out.size = static_cast<std::uint8_t>(*bytes);
    out.flags |= flag::two_addresses;
    if (count == 4) {
        const auto* reg = std::get_if<ptx::Register>(&in.operands[3].value);
        const bool ignore = reg && reg->type == Type::pred;
        out.sub = ignore ? 2 : 1;
        if (!d.source(out, in.operands[3], ignore ? Type::pred : Type::u32)) return false;
    }
    return true;
}

bool mbarrier(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    out.pipe = Pipe::lsu;
    const std::string operation = m.take_any({"init", "inval", "arrive", "arrive_drop", "expect_tx",
                                              "complete_tx", "test_wait", "try_wait", "pending_count"})
                                      .value_or("");
    const bool no_complete = m.take("noComplete");
    if (m.take("relaxed"))
        out.flags |= flag::relaxed;
    else
        m.take_any({"release", "acquire"});
    // Left out, the scope is .cta too; but programs that are in use (CUTLASS) leave it out where another
    // block of the cluster arrives, so that only a written .cta is taken at its word.
    if (m.take_any({"cta", "cluster"}) == "cta") out.flags |= flag::block_scope;
    // Without a space the address is generic: it may be in any block of the cluster only where the operation
    // reaches that far.
    const auto space = m.take_any({"shared", "shared::cta", "shared::cluster"});
    const bool remote_possible = operation == "arrive" || operation == "arrive_drop" ||
                                 operation == "expect_tx" || operation == "complete_tx";
    if (space == "shared::cluster" && !remote_possible) return d.fail("this space");
    if (remote_possible && (!space || space == "shared::cluster")) out.flags |= flag::in_cluster;
    if (!m.take("b64")) return d.fail("this form");
    if (operation != "pending_count") out.size = 8;  // of the object at the address
    const std::size_t n = in.operands.size();
    if (operation == "init")
        return n == 2 && d.handler(out, "mbarrier.init") && d.address(out, in.operands[0]) &&
               d.source(out, in.operands[1], Type::u32);
    if (operation == "inval")
        return n == 1 && d.handler(out, "mbarrier.inval") && d.address(out, in.operands[0]);
    if (operation == "pending_count")
        return d.handler(out, "mbarrier.pending_count") && d.simple(out, in, Type::u32, {Type::b64});
    if (operation == "test_wait" || operation == "try_wait") {
        out.sub = m.take("parity") ? 1 : 0;
        if (n != 3 && !(n == 4 && operation == "try_wait")) return d.fail("a different number of operands");
        return d.handler(out, "mbarrier.test") && d.destination(out, in.operands[0]) &&
               d.address(out, in.operands[1]) &&
               d.source(out, in.operands[2], out.sub ? Type::u32 : Type::b64);
    }
    if (operation.empty()) return d.fail("this form");
    out.sub = operation == "arrive" ? 0 : operation == "arrive_drop" ? 1 : operation == "expect_tx" ? 2 : 3;
    if (out.sub <= 1 && m.take("expect_tx")) out.sub2 |= 2;
    if (no_complete) out.sub2 |= 4;
    std::size_t next = 0;
    if (out.sub <= 1 && n > 0 && !std::holds_alternative<ptx::Address>(in.operands[0].value)) {
        if (!std::holds_alternative<ptx::Sink>(in.operands[0].value) && !d.destination(out, in.operands[0]))
            return false;
        next = 1;
    }
    if (n <= next || !d.handler(out, "mbarrier.arrive") || !d.address(out, in.operands[next]))
        return d.fail("this form");
    if (n == next + 2) {
        out.sub2 |= 1;
        return d.source(out, in.operands[next + 1], Type::u32);
    }
    return n == next + 1 && (out.sub <= 1 && !(out.sub2 & 2)) ? true
                                                              : d.fail("a different number of operands");
}

bool fence(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {  // membar fence
    out.pipe = Pipe::lsu;
    // Between proxies. Only the async one is followed, and only in shared memory.
    if (m.take("proxy")) {
        if (m.take("async")) {
            const auto space = m.take_any({"global", "shared::cta", "shared::cluster"});
            return d.handler(out, space == "global" ? "nothing" : "fence.proxy.async");
        }
        if (m.take("async::generic")) {
            out.flags |= m.take("acquire") ? flag::acquire : flag::release;
            m.take_any({"acquire", "release"});
            m.take_any({"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
            m.take("cluster");
            return d.handler(out, "fence.proxy.async");
        }
        if (m.take("alias")) return d.handler(out, "nothing");
        if (!m.take("tensormap::generic")) return d.fail("this proxy");
        const bool acquires = m.take("acquire");
        if (!acquires && !m.take("release")) return d.fail("this form");
        if (!take_scope(m, out)) return d.fail("this form");
        out.flags |= acquires ? flag::acquire : flag::release;
        if (in.operands.size() != (acquires ? 2u : 0u)) return d.fail("a different number of operands");
        if (acquires && d.literal(in.operands[1]) != 128) return d.fail("a size other than 128");
        return d.handler(out, "fence.proxy.tensormap") && (!acquires || d.address(out, in.operands[0]));
    }
    if (m.take("mbarrier_init")) {
        if (!m.take("release") || !m.take("cluster")) return d.fail("this form");
        out.flags |= flag::release | flag::block_scope;
        return d.handler(out, "fence");
    }
    const std::string semantics = m.take_any({"sc", "acq_rel", "acquire", "release"}).value_or("");
    m.take("level");
    m.take_any({"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
    if (!take_scope(m, out)) return d.fail("this form");
    (void)in;
    if (semantics != "release") out.flags |= flag::acquire;
    if (semantics != "acquire") out.flags |= flag::release;
    return d.handler(out, "fence");
}

bool hint(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {  // prefetch and the like
    for (const std::string& modifier : in.modifiers) m.take(modifier);
    out.pipe = Pipe::lsu;
    return d.handler(out, "nothing");
}
bool createpolicy(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    for (const std::string& modifier : in.modifiers) m.take(modifier);
    if (in.operands.empty()) return d.fail("this form");
    return d.handler(out, "mov.wide") && d.destination(out, in.operands[0]) &&
           d.append(out, d.wide_constant(0), false);
}

}  // namespace

void add_memory(DecodeTable& t) {
    t["ld"] = t["st"] = t["ldu"] = load_store;
    t["atom"] = t["red"] = atomic;
    t["cp"] = cp;
    t["mbarrier"] = mbarrier;
    t["membar"] = t["fence"] = fence;
    for (const char* name : {"prefetch", "prefetchu", "applypriority", "discard"}) t[name] = hint;
    t["createpolicy"] = createpolicy;
}

}  // namespace emulator::decode
