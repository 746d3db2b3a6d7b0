#include "emulator/src/decode/decoder.h"

#include <algorithm>
#include <array>
#include <bit>

namespace emulator::decode {

using exec::Base;
using exec::Relocation;

bool Modifiers::take(std::string_view name) {
    for (std::size_t i = 0; i < used_.size(); ++i)
        if (!used_[i] && in_.modifiers[i] == name) {
            used_[i] = true;
            return true;
        }
    return false;
}
std::optional<Type> Modifiers::type() {
    for (std::size_t i = 0; i < used_.size(); ++i)
        if (!used_[i])
            if (const auto type = ptx::parse_type(in_.modifiers[i])) {
                used_[i] = true;
                return type;
            }
    return std::nullopt;
}
std::optional<std::string> Modifiers::take_any(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names)
        if (take(name)) return std::string(name);
    return std::nullopt;
}
std::string Modifiers::left() const {
    for (std::size_t i = 0; i < used_.size(); ++i)
        if (!used_[i]) return in_.modifiers[i];
    return {};
}

bool is_integer(Type type) {
    switch (type) {
        case Type::u8:
        case Type::u16:
        case Type::u32:
        case Type::u64:
        case Type::s8:
        case Type::s16:
        case Type::s32:
        case Type::s64:
        case Type::b8:
        case Type::b16:
        case Type::b32:
        case Type::b64:
            return true;
        default:
            return false;
    }
}
bool is_signed(Type type) {
    return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}
std::string bits_name(Type type) { return ".b" + std::to_string(8 * ptx::size_bytes(type)); }
std::string typed_name(Type type) {
    return (is_signed(type) ? ".s" : ".u") + std::to_string(8 * ptx::size_bytes(type));
}
std::optional<int> comparison(const std::string& name) {
    static const std::map<std::string, int> table = {
        {"eq", 0},  {"ne", 1},  {"lt", 2},   {"le", 3},   {"gt", 4},   {"ge", 5},
        {"lo", 2},  {"ls", 3},  {"hi", 4},   {"hs", 5},   {"equ", 6},  {"neu", 7},
        {"ltu", 8}, {"leu", 9}, {"gtu", 10}, {"geu", 11}, {"num", 12}, {"nan", 13}};
    const auto it = table.find(name);
    return it == table.end() ? std::nullopt : std::optional<int>(it->second);
}

Decoder::Decoder(const ptx::Module& module, std::int32_t number, exec::FunctionCode& out,
                 const VariableNumbers& variables, const exec::HandlerSet& handlers)
    : module(module),
      function(module.functions[static_cast<std::size_t>(number)]),
      code(out),
      variables_(variables),
      handlers_(handlers) {
    code.name = function.name;
    code.is_kernel = function.is_kernel;
    code.narrow = function.narrow_registers;
    code.wide = function.wide_registers;
    code.predicates = function.predicates;
    const auto align16 = [](std::uint64_t v) { return static_cast<std::uint32_t>((v + 15) / 16 * 16); };
    code.parameter_offset = align16(function.frame_bytes);
    code.parameter_bytes = function.is_kernel ? 0 : static_cast<std::uint32_t>(function.parameter_bytes);
    code.frame_bytes = code.parameter_offset + align16(code.parameter_bytes);
    code.branch_tables = function.branch_tables;
}

bool Decoder::handler(Instr& out, const std::string& name) {
    out.fn = exec::find_handler(handlers_, name);
    return out.fn != nullptr || fail("no operation " + name);
}

// Until the function is complete, Instr::op holds an index into code.slots.
bool Decoder::append(Instr& out, const Slot& slot, bool is_destination) {
    if (out.destinations + out.sources == 0)
        out.op = reinterpret_cast<const Slot*>(static_cast<std::uintptr_t>(code.slots.size()));
    if (is_destination && out.sources) return fail("internal: destination after source");
    code.slots.push_back(slot);
    if (is_destination)
        out.destinations += 1;
    else
        out.sources += 1;
    return true;
}

static Slot register_slot(const ptx::Register& reg) {
    Slot slot;
    switch (ptx::file_of(reg.type)) {
        case ptx::File::narrow:
            slot.base = Base::narrow;
            slot.offset = reg.index * 128;
            break;
        case ptx::File::wide:
            slot.base = Base::wide;
            slot.offset = reg.index * 256;
            break;
        case ptx::File::predicate:
            slot.base = Base::predicate;
            slot.offset = reg.index * 4;
            break;
    }
    return slot;
}

Slot Decoder::scratch(bool wide) {
    std::int64_t& at = wide ? scratch_wide_ : scratch_narrow_;
    if (at < 0) at = wide ? code.wide++ : code.narrow++;
    return {static_cast<std::uint32_t>(at) * (wide ? 256u : 128u), wide ? Base::wide : Base::narrow, false};
}
Slot Decoder::scratch_predicate() {
    if (scratch_predicate_ < 0) scratch_predicate_ = code.predicates++;
    return {static_cast<std::uint32_t>(scratch_predicate_) * 4, Base::predicate, false};
}
Slot Decoder::carry_flag() {
    if (carry_ < 0) carry_ = code.predicates++;
    return {static_cast<std::uint32_t>(carry_) * 4, Base::predicate, false};
}
Slot Decoder::constant_predicate(bool value) {
    if (code.true_predicate < 0) code.true_predicate = static_cast<std::int32_t>(code.predicates++);
    return {static_cast<std::uint32_t>(code.true_predicate) * 4, Base::predicate, !value};
}
Slot Decoder::narrow_constant(std::uint32_t value) {
    const auto [it, added] = narrow_pool_.try_emplace(value, code.narrow_constants.size());
    if (added) code.narrow_constants.push_back(value);
    return {it->second * 128, Base::narrow_constant, false};
}
Slot Decoder::wide_constant(std::uint64_t value) {
    const auto [it, added] = wide_pool_.try_emplace(value, code.wide_constants.size());
    if (added) code.wide_constants.push_back(value);
    return {it->second * 256, Base::wide_constant, false};
}

bool Decoder::destination(Instr& out, const ptx::Operand& operand) {
    if (const auto* vector = std::get_if<ptx::Vector>(&operand.value)) {
        for (const ptx::Operand& element : vector->elements)
            if (!destination(out, element)) return false;
        return true;
    }
    if (const auto* reg = std::get_if<ptx::Register>(&operand.value)) {
        Slot slot = register_slot(*reg);
        if (!append(out, slot, true)) return false;
        if (reg->type == Type::b128) {
            slot.offset += 256;
            if (!append(out, slot, true)) return false;
        }
    } else if (std::holds_alternative<ptx::Sink>(operand.value)) {
        if (!append(out, scratch(false), true)) return false;
    } else {
        return fail("a destination must be a register");
    }
    if (operand.pair && !append(out, register_slot(*operand.pair), true)) return false;
    return true;
}

std::optional<std::int64_t> Decoder::literal(const ptx::Operand& operand) const {
    const auto* immediate = std::get_if<ptx::Immediate>(&operand.value);
    if (!immediate || immediate->is_float) return std::nullopt;
    return static_cast<std::int64_t>(immediate->bits);
}

bool Decoder::source(Instr& out, const ptx::Operand& operand, Type type) {
    if (const auto* vector = std::get_if<ptx::Vector>(&operand.value)) {
        for (const ptx::Operand& element : vector->elements)
            if (!source(out, element, type)) return false;
        return true;
    }
    if (const auto* reg = std::get_if<ptx::Register>(&operand.value)) {
        Slot slot = register_slot(*reg);
        if (type != Type::none && ptx::file_of(type) != ptx::file_of(reg->type))
            return fail(std::string("operand of type ") + ptx::to_string(reg->type) + " where " +
                        ptx::to_string(type) + " is expected");
        slot.negated = operand.negated;
        if (operand.negated && slot.base != Base::predicate) return fail("a negated register");
        if (!append(out, slot, false)) return false;
        if (reg->type == Type::b128) {
            slot.offset += 256;
            return append(out, slot, false);
        }
        return true;
    }
    if (const auto* immediate = std::get_if<ptx::Immediate>(&operand.value)) {
        if (type == Type::pred)
            return append(out, constant_predicate((immediate->bits != 0) != operand.negated), false);
        std::uint64_t bits = immediate->bits;
        if (type == Type::f64 && immediate->is_float && !immediate->is_double)
            bits = std::bit_cast<std::uint64_t>(
                static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
        if (type != Type::f64 && type != Type::b64 && immediate->is_float && immediate->is_double)
            bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
        if ((type == Type::f64 || type == Type::f32) && !immediate->is_float) {
            const double value = static_cast<double>(static_cast<std::int64_t>(bits));
            bits = type == Type::f64 ? std::bit_cast<std::uint64_t>(value)
                                     : std::bit_cast<std::uint32_t>(static_cast<float>(value));
        }
        if (type != Type::none && ptx::file_of(type) == ptx::File::wide)
            return append(out, wide_constant(bits), false);
        const std::uint32_t size = type == Type::none ? 4 : ptx::size_bytes(type);
        const std::uint32_t keep = size == 2 ? 0xffffu : size == 1 ? 0xffu : 0xffffffffu;
        return append(out, narrow_constant(static_cast<std::uint32_t>(bits) & keep), false);
    }
    if (const auto* symbol_operand = std::get_if<ptx::Symbol>(&operand.value))
        return symbol(out, *symbol_operand, type, 0);
    if (std::holds_alternative<ptx::Special>(operand.value))
        return fail("a special register as an operand of something other than mov");
    return fail("an operand of this form");
}

bool Decoder::sources(Instr& out, const ptx::Instruction& in, std::size_t first, std::size_t count,
                      Type type) {
    for (std::size_t i = first; i < first + count; ++i) {
        if (i >= in.operands.size()) return fail("too few operands");
        if (!source(out, in.operands[i], type)) return false;
    }
    return true;
}

bool Decoder::simple(Instr& out, const ptx::Instruction& in, Type destination_type,
                     std::initializer_list<Type> source_types) {
    if (in.operands.size() != 1 + source_types.size()) return fail("a different number of operands");
    if (const auto* reg = std::get_if<ptx::Register>(&in.operands[0].value)) {
        if (destination_type != Type::none && ptx::file_of(destination_type) != ptx::file_of(reg->type))
            return fail("a destination of another width");
    }
    if (std::holds_alternative<ptx::Sink>(in.operands[0].value)) {
        if (!append(out, scratch(ptx::file_of(destination_type) == ptx::File::wide), true)) return false;
    } else if (!destination(out, in.operands[0])) {
        return false;
    }
    std::size_t i = 1;
    for (const Type type : source_types)
        if (!source(out, in.operands[i++], type)) return false;
    return true;
}

static bool inside(const std::vector<ptx::Variable>& list, const ptx::Variable& variable) {
    return !list.empty() && &variable >= &list.front() && &variable <= &list.back();
}
std::optional<std::int64_t> Decoder::frame_offset(const ptx::Variable& variable) const {
    if (inside(function.locals, variable)) return static_cast<std::int64_t>(variable.offset);
    if (!function.is_kernel && (inside(function.parameters, variable) || inside(function.returns, variable)))
        return static_cast<std::int64_t>(code.parameter_offset + variable.offset);
    return std::nullopt;
}
bool Decoder::is_kernel_parameter(const ptx::Variable& variable) const {
    return function.is_kernel && inside(function.parameters, variable);
}

// The address of something as a constant that a launch fills in.
bool Decoder::symbol(Instr& out, const ptx::Symbol& symbol, Type type, std::int64_t offset) {
    Relocation relocation;
    relocation.addend = symbol.addend + offset;
    relocation.wide = type == Type::none || ptx::file_of(type) == ptx::File::wide;
    if (!symbol.variable) {
        if (symbol.function < 0) return fail("an unresolved symbol");
        relocation.kind = Relocation::Kind::function;
        relocation.index = static_cast<std::uint32_t>(symbol.function);
    } else if (is_kernel_parameter(*symbol.variable)) {
        relocation.kind = Relocation::Kind::parameter;
        relocation.index = static_cast<std::uint32_t>(symbol.variable->offset);
    } else if (symbol.variable->space == ptx::Space::shared) {
        relocation.kind =
            symbol.variable->is_extern ? Relocation::Kind::dynamic_shared : Relocation::Kind::variable;
        const auto it = variables_.find(symbol.variable);
        if (it == variables_.end()) return fail("an unknown variable");
        relocation.index = it->second;
    } else {
        const auto it = variables_.find(symbol.variable);
        if (it == variables_.end()) return fail("the address of a local variable here");
        relocation.index = it->second;
    }
    Slot slot;
    if (relocation.wide) {
        relocation.constant = static_cast<std::uint32_t>(code.wide_constants.size());
        code.wide_constants.push_back(0);
        slot = {relocation.constant * 256, Base::wide_constant, false};
    } else {
        relocation.constant = static_cast<std::uint32_t>(code.narrow_constants.size());
        code.narrow_constants.push_back(0);
        slot = {relocation.constant * 128, Base::narrow_constant, false};
    }
    code.relocations.push_back(relocation);
    return append(out, slot, false);
}

bool Decoder::address(Instr& out, const ptx::Operand& operand) {
    const auto* address = std::get_if<ptx::Address>(&operand.value);
    if (!address || !address->coordinates.empty()) return fail("an address of this form");
    out.imm = address->offset;
    if (const auto* reg = std::get_if<ptx::Register>(&address->base)) {
        const Slot slot = register_slot(*reg);
        if (slot.base == Base::predicate) return fail("a predicate as address");
        if (!slot.is_wide()) out.flags |= exec::flag::narrow_address;
        return append(out, slot, false);
    }
    if (const auto* immediate = std::get_if<ptx::Immediate>(&address->base))
        return append(out, wide_constant(immediate->bits), false);
    const ptx::Symbol& base = std::get<ptx::Symbol>(address->base);
    if (base.variable)
        if (const auto at = frame_offset(*base.variable)) {
            out.flags |= exec::flag::frame_relative;
            out.imm += *at + base.addend;
            return append(out, wide_constant(0), false);
        }
    return symbol(out, base, Type::u64, 0);
}

static const DecodeTable& decode_table() {
    static const DecodeTable table = [] {
        DecodeTable t;
        add_arithmetic(t);
        add_logic(t);
        add_convert(t);
        add_move(t);
        add_memory(t);
        add_control(t);
        add_warp(t);
        add_async(t);
        add_video(t);
        add_tensor(t);
        add_wgmma(t);
        add_tcgen05(t);
        return t;
    }();
    return table;
}

bool Decoder::decode(const ptx::Instruction& in, Instr& out) {
    if (in.predicate) {
        if (in.predicate->index > 0x7fff) return fail("more than 32768 predicates in a function");
        out.predicate = static_cast<std::int16_t>(in.predicate->index);
        out.predicate_negated = in.predicate_negated;
    }
    const DecodeTable& table = decode_table();
    const auto it = table.find(in.opcode);
    if (it == table.end()) return fail("unknown instruction `" + in.opcode + "`");
    Modifiers modifiers(in);
    if (!it->second(*this, in, modifiers, out)) return false;
    if (const std::string rest = modifiers.left(); !rest.empty())
        return fail("unknown modifier `." + rest + "`");
    set_flow(in, out);
    return true;
}

// Functions whose code or address can be reached from a kernel.
static std::set<std::int32_t> reachable(const ptx::Module& module) {
    std::set<std::int32_t> found;
    std::vector<std::int32_t> todo;
    const auto add = [&](std::int32_t f) {
        if (f >= 0 && found.insert(f).second) todo.push_back(f);
    };
    for (std::size_t i = 0; i < module.functions.size(); ++i)
        if (module.functions[i].is_kernel) add(static_cast<std::int32_t>(i));
    for (const auto& variable : module.variables)
        for (const auto& relocation : variable->relocations) add(module.find_function(relocation.symbol));
    while (!todo.empty()) {
        const ptx::Function& function = module.functions[static_cast<std::size_t>(todo.back())];
        todo.pop_back();
        for (const ptx::Instruction& in : function.code)
            for (const ptx::Operand& operand : in.operands)
                if (const auto* symbol = std::get_if<ptx::Symbol>(&operand.value))
                    if (!symbol->variable) add(symbol->function);
    }
    return found;
}

exec::Program decode_module(const ptx::Module& module, const exec::HandlerSet& handlers) {
    exec::Program program;
    program.handlers = &handlers;
    program.functions.resize(module.functions.size());
    Decoder::VariableNumbers variables;
    for (std::size_t i = 0; i < module.variables.size(); ++i)
        variables[module.variables[i].get()] = static_cast<std::uint32_t>(i);
    for (const std::int32_t number : reachable(module)) {
        const ptx::Function& function = module.functions[static_cast<std::size_t>(number)];
        exec::FunctionCode& code = program.functions[static_cast<std::size_t>(number)];
        if (function.is_extern) {
            code.name = function.name;
            continue;
        }
        Decoder decoder(module, number, code, variables, handlers);
        code.code.resize(function.code.size() + 1);
        for (std::size_t i = 0; i < function.code.size(); ++i) {
            const ptx::Instruction& in = function.code[i];
            Instr& out = code.code[i];
            out.id = static_cast<std::uint32_t>(program.text.size());
            program.text.push_back(&in);
            program.function_of.push_back(number);
            if (!decoder.decode(in, out)) {
                Instr unknown;
                unknown.id = out.id;
                unknown.predicate = out.predicate;
                unknown.predicate_negated = out.predicate_negated;
                unknown.control = Control::unsupported;
                unknown.pipe = Pipe::control;
                out = unknown;
                program.unsupported[out.id] = decoder.error;
            }
        }
        // Falling off the end of a function returns.
        Instr& end = code.code.back();
        end.control = function.is_kernel ? Control::exit : Control::ret;
        end.pipe = Pipe::control;
        end.id = static_cast<std::uint32_t>(program.text.size());
        program.text.push_back(function.code.empty() ? nullptr : &function.code.back());
        program.function_of.push_back(number);
        // A handler may look for more operands than a malformed instruction has.
        code.slots.resize(code.slots.size() + 64);
        for (Instr& in : code.code) in.op = code.slots.data() + reinterpret_cast<std::uintptr_t>(in.op);
        code.unwritten = unwritten_registers(code);
        code.decoded = true;
    }
    program.instructions.resize(program.text.size());
    std::map<std::array<std::int32_t, 4>, std::uint32_t> lines;
    for (std::size_t id = 0; id < program.text.size(); ++id) {
        const ptx::Instruction* text = program.text[id];
        std::array<std::int32_t, 4> key{-2, static_cast<std::int32_t>(id), 0,
                                        0};  // no source line: its own place
        if (text && text->source.line > 0) {
            const ptx::Source& s = text->source;
            key = {s.file, s.line, s.outer_file, s.outer_line};
        }
        program.places.push_back(
            lines.try_emplace(key, static_cast<std::uint32_t>(lines.size())).first->second);
    }
    program.blind_atomics.resize(program.text.size(), false);
    for (const exec::FunctionCode& function : program.functions) {
        for (const Instr& in : function.code) program.instructions[in.id] = &in;
        mark_blind_atomics(function, program);
    }
    return program;
}

}  // namespace emulator::decode
