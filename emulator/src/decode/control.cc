// Branches, calls, exits, and the barriers of a block.
#include "emulator/src/decode/decoder.h"

namespace emulator::decode {
namespace {

namespace flag = exec::flag;

bool control(Instr& out, Control kind) {
    out.control = kind;
    out.pipe = Pipe::control;
    return true;
}

bool bra(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    m.take("uni");
    const auto* label = in.operands.size() == 1 ? std::get_if<ptx::Label>(&in.operands[0].value) : nullptr;
    if (!label) return d.fail("this form");
    out.target = label->target;
    return control(out, Control::branch);
}
bool brx(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    m.take("uni");
    if (!m.take("idx") || in.operands.size() != 2) return d.fail("this form");
    const auto* table = std::get_if<ptx::Name>(&in.operands[1].value);
    if (!table || table->index < 0) return d.fail("this form");
    out.target = static_cast<std::uint32_t>(table->index);
    return control(out, Control::indexed) && d.source(out, in.operands[0], Type::u32);
}

bool pieces(Decoder& d, const std::vector<ptx::Operand>& operands, std::vector<exec::CallSite::Piece>& out) {
    for (const ptx::Operand& operand : operands) {
        exec::CallSite::Piece piece;
        const auto* symbol = std::get_if<ptx::Symbol>(&operand.value);
        if (!symbol || !symbol->variable) return d.fail("an argument that is not a .param variable");
        const auto at = d.frame_offset(*symbol->variable);
        if (!at) return d.fail("an argument that is not a .param variable");
        piece.offset = static_cast<std::uint32_t>(*at);
        piece.bytes = static_cast<std::uint32_t>(symbol->variable->size);
        out.push_back(piece);
    }
    return true;
}

bool call(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    m.take("uni");
    if (in.operands.empty()) return d.fail("this form");
    exec::CallSite site;
    if (!pieces(d, in.call_returns, site.results) || !pieces(d, in.call_arguments, site.arguments))
        return false;
    if (const auto* symbol = std::get_if<ptx::Symbol>(&in.operands[0].value)) {
        if (symbol->variable || symbol->function < 0) return d.fail("this callee");
        site.function = symbol->function;
        const ptx::Function& callee = d.module.functions[static_cast<std::size_t>(symbol->function)];
        for (const auto* list : {&callee.parameters, &callee.returns})
            for (const ptx::Variable& v : *list)
                if (v.in_register) return d.fail("a function with .reg parameters");
        if (callee.is_kernel) return d.fail("a call of a kernel");
        if (callee.is_extern) {
            if (callee.name != "vprintf" && callee.name != "malloc" && callee.name != "free" &&
                callee.name != "__assertfail")
                return d.fail("the external function `" + callee.name + "`");
            site.builtin = callee.name;
        } else if (site.arguments.size() != callee.parameters.size() ||
                   site.results.size() > callee.returns.size()) {
            return d.fail("a call with other parameters than the function");
        }
    } else {
        if (!d.source(out, in.operands[0], Type::u64)) return false;
    }
    out.target = static_cast<std::uint32_t>(d.code.calls.size());
    d.code.calls.push_back(std::move(site));
    return control(out, Control::call);
}

bool ret(Decoder& d, const ptx::Instruction&, Modifiers& m, Instr& out) {
    m.take("uni");
    return control(out, d.function.is_kernel ? Control::exit : Control::ret);
}
bool exit_(Decoder&, const ptx::Instruction&, Modifiers&, Instr& out) { return control(out, Control::exit); }
bool trap(Decoder&, const ptx::Instruction&, Modifiers&, Instr& out) { return control(out, Control::trap); }
bool ignore(Decoder& d, const ptx::Instruction& in, Modifiers& m,
            Instr& out) {  // pmevent griddepcontrol
    for (const std::string& modifier : in.modifiers) m.take(modifier);
    out.pipe = Pipe::control;
    return d.handler(out, "nothing");
}
bool breakpoint(Decoder& d, const ptx::Instruction&, Modifiers&, Instr&) {
    return d.fail("there is no debugger that a breakpoint could stop for");
}
bool nanosleep(Decoder& d, const ptx::Instruction&, Modifiers& m, Instr& out) {
    m.take("u32");
    return control(out, Control::yield) && d.handler(out, "nothing");
}

// sub: 0 sync, 1 arrive, 2 red.popc, 3 red.and, 4 red.or. Sources: barrier, (threads), (predicate).
bool bar(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (m.take("warp")) {
        if (!m.take("sync") || in.operands.size() != 1) return d.fail("this form");
        out.control = Control::collective;
        out.pipe = Pipe::control;
        out.sub2 = 0xff;  // may be completed by another instruction of the kind
        return d.handler(out, "bar.warp") && d.source(out, in.operands[0], Type::b32);
    }
    if (m.take("cluster")) {  // sub: 0 arrive, 1 wait
        m.take("aligned");
        if (!in.operands.empty()) return d.fail("a different number of operands");
        if (m.take("arrive")) {
            if (!m.take("release") && m.take("relaxed")) out.flags |= flag::relaxed;
        } else if (m.take("wait")) {
            out.sub = 1;
            m.take("acquire");
        } else {
            return d.fail("this form");
        }
        out.flags |= flag::in_cluster;
        return control(out, Control::barrier);
    }
    m.take("cta");
    const bool aligned = in.opcode == "bar" || m.take("aligned");
    if (in.opcode == "bar") m.take("aligned");
    if (!aligned) out.flags |= flag::divergent_ok;
    std::size_t next = 0;
    if (m.take("sync")) {
        out.sub = 0;
    } else if (m.take("arrive")) {
        out.sub = 1;
    } else if (m.take("red")) {
        out.sub = m.take("popc") ? 2 : m.take("and") ? 3 : m.take("or") ? 4 : 0;
        if (out.sub == 0) return d.fail("this reduction");
        m.take_any({"u32", "pred"});
        if (in.operands.empty() || !d.destination(out, in.operands[next++])) return false;
    } else {
        return d.fail("this form");
    }
    const bool reduces = out.sub >= 2;
    const std::size_t left = in.operands.size() - next;
    if (left < (reduces ? 2u : 1u) || left > (reduces ? 3u : 2u))
        return d.fail("a different number of operands");
    if (!d.source(out, in.operands[next++], Type::u32)) return false;
    if (left == (reduces ? 3u : 2u)) {
        out.flags |= flag::explicit_count;
        if (!d.source(out, in.operands[next++], Type::u32)) return false;
    } else if (out.sub == 1) {
        return d.fail("an arrive without a thread count");
    }
    if (reduces && !d.source(out, in.operands[next], Type::pred)) return false;
    return control(out, Control::barrier);
}

}  // namespace

void add_control(DecodeTable& t) {
    t["bra"] = bra;
    t["brx"] = brx;
    t["call"] = call;
    t["ret"] = ret;
    t["exit"] = exit_;
    t["trap"] = trap;
    t["brkpt"] = breakpoint;
    t["pmevent"] = t["griddepcontrol"] = ignore;
    t["nanosleep"] = nanosleep;
    t["bar"] = t["barrier"] = bar;
}

}  // namespace emulator::decode
