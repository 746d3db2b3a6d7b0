// shfl vote match redux elect activemask.
#include "emulator/src/decode/decoder.h"

namespace emulator::decode {
namespace {

namespace flag = exec::flag;

void collective(Instr& out) {
    out.control = Control::collective;
    out.flags |= flag::cross_lane;
    out.pipe = Pipe::lsu;
}

bool shfl(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (!m.take("sync")) return d.fail("a shuffle without .sync");
    static const char* const modes[] = {"up", "down", "bfly", "idx"};
    bool found = false;
    for (std::uint8_t i = 0; i < 4; ++i)
        if (m.take(modes[i])) {
            out.sub = i;
            found = true;
        }
    if (!found || m.type() != Type::b32 || in.operands.size() != 5) return d.fail("this form");
    collective(out);
    out.flags = (out.flags & ~flag::cross_lane) | flag::loads;  // tracks undefined lanes itself
    return d.handler(out, "shfl") && d.destination(out, in.operands[0]) &&
           d.sources(out, in, 1, 4, Type::b32);
}
bool vote(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (!m.take("sync")) return d.fail("a vote without .sync");
    static const char* const modes[] = {"all", "any", "uni", "ballot"};
    bool found = false;
    for (std::uint8_t i = 0; i < 4; ++i)
        if (m.take(modes[i])) {
            out.sub = i;
            found = true;
        }
    const auto t = m.type();
    if (!found || !t || in.operands.size() != 3) return d.fail("this form");
    collective(out);
    out.pipe = Pipe::alu;
    return d.handler(out, "vote") && d.destination(out, in.operands[0]) &&
           d.source(out, in.operands[1], Type::pred) && d.source(out, in.operands[2], Type::b32);
}
bool match(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    const auto mode = m.take_any({"any", "all"});
    if (!m.take("sync") || !mode) return d.fail("this form");
    const auto t = m.type();
    if (!t || in.operands.size() != 3) return d.fail("this form");
    collective(out);
    return d.handler(out, "match." + *mode + bits_name(*t)) && d.destination(out, in.operands[0]) &&
           d.source(out, in.operands[1], *t) && d.source(out, in.operands[2], Type::b32);
}
bool redux(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (!m.take("sync")) return d.fail("this form");
    static const char* const operations[] = {"add", "min", "max", "and", "or", "xor"};
    bool found = false;
    for (std::uint8_t i = 0; i < 6; ++i)
        if (m.take(operations[i])) {
            out.sub = i;
            found = true;
        }
    if (m.take("abs")) out.flags |= flag::magnitude;
    if (m.take("NaN")) out.flags |= flag::nan_result;
    const auto t = m.type();
    if (!found || !t || in.operands.size() != 3) return d.fail("this form");
    if (*t == Type::f32 && (out.sub == 1 || out.sub == 2)) {
        collective(out);
        return d.handler(out, "redux.f32") && d.destination(out, in.operands[0]) &&
               d.source(out, in.operands[1], *t) && d.source(out, in.operands[2], Type::b32);
    }
    if (out.has(flag::magnitude | flag::nan_result)) return d.fail("this form");
    if (out.sub <= 2 ? *t != Type::u32 && *t != Type::s32 : *t != Type::b32) return d.fail("this type");
    collective(out);
    return d.handler(out, "redux" + typed_name(*t)) && d.destination(out, in.operands[0]) &&
           d.source(out, in.operands[1], *t) && d.source(out, in.operands[2], Type::b32);
}
bool elect(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (!m.take("sync") || in.operands.size() != 2) return d.fail("this form");
    collective(out);
    if (std::holds_alternative<ptx::Sink>(in.operands[0].value) && in.operands[0].pair) {
        ptx::Operand only = in.operands[0];
        only.value = *in.operands[0].pair;
        only.pair.reset();
        return d.handler(out, "elect") && d.destination(out, only) &&
               d.source(out, in.operands[1], Type::b32);
    }
    return d.handler(out, "elect") && d.destination(out, in.operands[0]) &&
           d.source(out, in.operands[1], Type::b32);
}
bool activemask(Decoder& d, const ptx::Instruction& in, Modifiers& m, Instr& out) {
    if (m.type() != Type::b32 || in.operands.size() != 1) return d.fail("this form");
    out.pipe = Pipe::alu;
    return d.handler(out, "activemask") && d.destination(out, in.operands[0]);
}

}  // namespace

void add_warp(DecodeTable& t) {
    t["shfl"] = shfl;
    t["vote"] = vote;
    t["match"] = match;
    t["redux"] = redux;
    t["elect"] = elect;
    t["activemask"] = activemask;
}

}  // namespace emulator::decode
