// What the checks of undefined values need to know of a program: how undefined bits pass through each
// instruction, and which registers a function may read before it has written them. A variable without an
// initial value is such a register in NVRTC's PTX. The second is liveness at the function's entry: only these
// registers are marked when a frame begins, so code that has none pays nothing; which lanes really read
// what is found out as they execute.
#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "emulator/src/decode/decoder.h"

namespace emulator::decode {

using exec::Base;
using exec::Flow;

void set_flow(const ptx::Instruction& in, Instr& out) {
    const std::string& op = in.opcode;
    std::vector<Type> types;
    for (const std::string& m : in.modifiers)
        if (const auto t = ptx::parse_type(m)) types.push_back(*t);
    if (op == "mov")
        out.flow = out.sources == out.destinations ? Flow::copy : out.sources > 1 ? Flow::pack : Flow::unpack;
    if (op == "selp" || op == "cvta") out.flow = Flow::copy;
    if (op == "and") out.flow = Flow::logic_and;
    if (op == "or") out.flow = Flow::logic_or;
    if (op == "xor" || op == "not") out.flow = Flow::logic_xor;
    if (op == "shl") out.flow = Flow::shift_left;
    if (op == "shr")
        out.flow = !types.empty() && is_signed(types[0]) ? Flow::shift_right_signed : Flow::shift_right;
    if (op == "bfe" && !types.empty()) out.flow = is_signed(types[0]) ? Flow::extract_signed : Flow::extract;
    if (op == "prmt" && in.modifiers.size() == 1) out.flow = Flow::permute;
    if (!types.empty() && op != "set") {
        const bool words = types.back() == Type::f32x2;
        if (words || types.back() == Type::f16x2 || types.back() == Type::bf16x2) {
            out.flow = Flow::halves;
            out.flow_width = words ? 32 : 16;
        }
    }
    const bool bitwise =
        out.flow == Flow::logic_and || out.flow == Flow::logic_or || out.flow == Flow::logic_xor;
    if ((bitwise || op == "shl" || op == "shr" || op == "bfe") && !types.empty() && types[0] != Type::pred)
        out.flow_width = static_cast<std::uint8_t>(8 * ptx::size_bytes(types[0]));
    if (op == "cvt" && types.size() == 2 && !in.has("pack")) {
        const Type to = types[0], from = types[1];
        out.flow = Flow::whole;
        if ((to == Type::f16x2 || to == Type::bf16x2) && from == Type::f32) {
            out.flow = Flow::join;
        } else if (const std::uint32_t bytes = ptx::size_bytes(from); bytes > 0 && bytes <= 8) {
            out.flow_width = static_cast<std::uint8_t>(8 * bytes);
            if (is_integer(to) && is_integer(from) && !out.has(exec::flag::sat)) {
                const std::uint32_t kept = std::min(bytes, ptx::size_bytes(to));
                out.flow = is_signed(from) && kept == bytes ? Flow::widen_signed : Flow::widen;
                out.flow_width = static_cast<std::uint8_t>(8 * kept);
            }
        }
    }
}

namespace {

// Registers get dense numbers: only those count that some block reads before it writes them.
struct Numbers {
    std::unordered_map<std::uint64_t, std::uint32_t> of;
    std::vector<Slot> slots;

    static std::uint64_t key(const Slot& slot) {
        return static_cast<std::uint64_t>(slot.base) << 32 | slot.number();
    }
    std::uint32_t add(const Slot& slot) {
        const auto [it, fresh] = of.try_emplace(key(slot), static_cast<std::uint32_t>(slots.size()));
        if (fresh) slots.push_back(slot);
        return it->second;
    }
};

struct Block {
    std::uint32_t begin = 0, end = 0;
    std::vector<std::uint32_t> next, previous;
    std::vector<std::uint64_t> live, kills;  // registers read before written from here on; written here
};

Slot predicate_slot(std::int32_t number) {
    Slot slot;
    slot.base = Base::predicate;
    slot.offset = static_cast<std::uint32_t>(number) * 4;
    return slot;
}
template <class F>
void each_read(const Instr& in, F&& f) {
    if (in.predicate >= 0) f(predicate_slot(in.predicate));
    for (int k = 0; k < in.sources; ++k)
        if (in.source(k).is_register()) f(in.source(k));
}

bool leaves(const Instr& in) {
    return in.control == Control::exit || in.control == Control::ret || in.control == Control::trap;
}

std::vector<Block> blocks_of(const exec::FunctionCode& code) {
    const std::vector<Instr>& text = code.code;
    std::vector<bool> leader(text.size() + 1, false);
    leader[0] = true;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const Instr& in = text[i];
        if (in.control == Control::branch) leader[in.target] = true;
        if (in.control == Control::indexed)
            for (const std::uint32_t target : code.branch_tables[in.target]) leader[target] = true;
        if (in.control == Control::branch || in.control == Control::indexed || leaves(in))
            leader[i + 1] = true;
    }
    std::vector<Block> blocks;
    std::vector<std::uint32_t> block_at(text.size());
    for (std::uint32_t i = 0; i < text.size(); ++i) {
        if (leader[i]) {
            blocks.emplace_back();
            blocks.back().begin = i;
        }
        blocks.back().end = i + 1;
        block_at[i] = static_cast<std::uint32_t>(blocks.size()) - 1;
    }
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
        const auto link = [&](std::uint32_t target) {
            blocks[b].next.push_back(block_at[target]);
            blocks[block_at[target]].previous.push_back(b);
        };
        const Instr& last = text[blocks[b].end - 1];
        const bool jumps = last.control == Control::branch || last.control == Control::indexed;
        if (last.control == Control::branch) link(last.target);
        if (last.control == Control::indexed)
            for (const std::uint32_t target : code.branch_tables[last.target]) link(target);
        if ((last.predicate >= 0 || !(jumps || leaves(last))) && blocks[b].end < text.size())
            link(blocks[b].end);
    }
    return blocks;
}

}  // namespace

std::vector<Slot> unwritten_registers(const exec::FunctionCode& code) {
    if (code.code.empty()) return {};
    std::vector<Block> blocks = blocks_of(code);
    Numbers numbers;
    std::vector<std::vector<std::uint32_t>> reads(blocks.size());
    {
        std::unordered_map<std::uint64_t, std::uint32_t> written;  // register -> last block that wrote it
        for (std::uint32_t b = 0; b < blocks.size(); ++b)
            for (std::uint32_t i = blocks[b].begin; i < blocks[b].end; ++i) {
                const Instr& in = code.code[i];
                each_read(in, [&](const Slot& slot) {
                    const auto it = written.find(Numbers::key(slot));
                    const bool own = slot.base == Base::predicate && code.true_predicate >= 0 &&
                                     slot.number() == static_cast<std::uint32_t>(code.true_predicate);
                    if (!own && (it == written.end() || it->second != b))
                        reads[b].push_back(numbers.add(slot));
                });
                if (in.predicate < 0)
                    for (int k = 0; k < in.destinations; ++k) written[Numbers::key(in.destination(k))] = b;
            }
    }
    if (numbers.slots.empty()) return {};
    const std::size_t words = (numbers.slots.size() + 63) / 64;
    const auto set = [](std::vector<std::uint64_t>& bits, std::uint32_t n) {
        bits[n / 64] |= std::uint64_t{1} << (n % 64);
    };
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
        Block& block = blocks[b];
        block.live.assign(words, 0);
        block.kills.assign(words, 0);
        for (const std::uint32_t n : reads[b]) set(block.live, n);
        for (std::uint32_t i = block.begin; i < block.end; ++i) {
            const Instr& in = code.code[i];
            if (in.predicate >= 0) continue;
            for (int k = 0; k < in.destinations; ++k)
                if (const auto it = numbers.of.find(Numbers::key(in.destination(k))); it != numbers.of.end())
                    set(block.kills, it->second);
        }
    }
    std::vector<std::uint32_t> todo(blocks.size());
    for (std::uint32_t b = 0; b < blocks.size(); ++b) todo[b] = b;
    std::vector<bool> queued(blocks.size(), true);
    while (!todo.empty()) {
        const std::uint32_t b = todo.back();
        todo.pop_back();
        queued[b] = false;
        for (const std::uint32_t p : blocks[b].previous) {
            bool changed = false;
            for (std::size_t k = 0; k < words; ++k) {
                const std::uint64_t more = blocks[b].live[k] & ~blocks[p].kills[k] & ~blocks[p].live[k];
                blocks[p].live[k] |= more;
                changed |= more != 0;
            }
            if (changed && !queued[p]) {
                queued[p] = true;
                todo.push_back(p);
            }
        }
    }
    std::vector<Slot> found;
    for (std::uint32_t n = 0; n < numbers.slots.size(); ++n)
        if ((blocks[0].live[n / 64] >> (n % 64)) & 1) {
            found.push_back(numbers.slots[n]);
            found.back().negated = false;
        }
    return found;
}

void mark_blind_atomics(const exec::FunctionCode& code, exec::Program& program) {
    std::unordered_set<std::uint64_t> read;
    for (const Instr& in : code.code)
        each_read(in, [&](const Slot& slot) { read.insert(Numbers::key(slot)); });
    for (const exec::CallSite& call : code.calls) {
        read.insert(Numbers::key(call.callee));
        for (const exec::CallSite::Piece& piece : call.arguments)
            if (piece.in_register) read.insert(Numbers::key(piece.reg));
    }
    for (const Instr& in : code.code) {
        const ptx::Instruction* text = program.text[in.id];
        if (text == nullptr || (text->opcode != "atom" && text->opcode != "red")) continue;
        bool blind = true;
        for (int k = 0; k < in.destinations; ++k) blind &= !read.contains(Numbers::key(in.destination(k)));
        program.blind_atomics[in.id] = blind;
    }
}

}  // namespace emulator::decode
