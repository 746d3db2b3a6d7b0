// Turns parsed PTX into exec::Program. One decode function per family of opcodes looks at modifiers and
// types, picks a handler by name and lists operands. Anything it does not know is `unsupported`: a wrong
// guess would be a wrong result.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "emulator/src/exec/isa.h"
#include "emulator/src/exec/program.h"

namespace emulator::decode {

using exec::Control;
using exec::Instr;
using exec::Pipe;
using exec::Slot;
using exec::Work;
using ptx::Type;

// Decodes the instructions of one function.
class Decoder {
  public:
    Decoder(const ptx::Module& module, std::int32_t function, exec::FunctionCode& out);

    // False: `error` says what is not known.
    bool decode(const ptx::Instruction& instruction, Instr& out);
    std::string error;

    // ---- for decode functions ----
    const ptx::Module& module;
    const ptx::Function& function;
    exec::FunctionCode& code;

    bool fail(std::string message) {
        error = std::move(message);
        return false;
    }
    // Chooses the handler; fails when there is none of that name.
    bool handler(Instr& out, const std::string& name);
    // Appends operands; all destinations before all sources. A vector operand appends its elements.
    bool destination(Instr& out, const ptx::Operand& operand);
    // `type` decides how a literal is encoded (narrow or wide, float or double).
    bool source(Instr& out, const ptx::Operand& operand, Type type);
    bool sources(Instr& out, const ptx::Instruction& in, std::size_t first, std::size_t count, Type type);
    // An [address] operand: appends the base as a source, sets imm and address flags.
    bool address(Instr& out, const ptx::Operand& operand);
    std::optional<std::int64_t> literal(const ptx::Operand& operand) const;  // an integer literal's value
    Slot scratch(bool wide);  // a register that nothing reads (for `_`)
    Slot scratch_predicate();
    Slot narrow_constant(std::uint32_t value);
    Slot wide_constant(std::uint64_t value);

  private:
    std::vector<Slot> operands_;
    std::map<std::uint32_t, std::uint32_t> narrow_pool_;
    std::map<std::uint64_t, std::uint32_t> wide_pool_;
    std::int64_t scratch_narrow_ = -1, scratch_wide_ = -1, scratch_predicate_ = -1;

    bool append(Instr& out, const Slot& slot, bool is_destination);
    bool symbol(Instr& out, const ptx::Symbol& symbol, Type type, std::int64_t offset);
    friend struct Families;
};

// Modifiers of an instruction, consumed one by one: what is left over is not known.
class Modifiers {
  public:
    explicit Modifiers(const ptx::Instruction& in) : in_(in), used_(in.modifiers.size(), false) {}
    bool take(std::string_view name);  // true when present
    std::optional<Type> type();        // the next unused modifier that is a type
    std::optional<std::string> take_any(std::initializer_list<std::string_view> names);
    std::string left() const;  // the first unused one; empty: none

  private:
    const ptx::Instruction& in_;
    std::vector<bool> used_;
};

// opcode -> family
using DecodeFunction = bool (*)(Decoder& decoder, const ptx::Instruction& in, Modifiers& modifiers,
                                Instr& out);
using DecodeTable = std::map<std::string, DecodeFunction, std::less<>>;
void add_integer(DecodeTable& table);
void add_float(DecodeTable& table);
void add_convert(DecodeTable& table);
void add_move(DecodeTable& table);
void add_memory(DecodeTable& table);
void add_control(DecodeTable& table);
void add_warp(DecodeTable& table);
void add_tensor(DecodeTable& table);  // emulator/src/tensor/

std::variant<exec::Program, LoadError> decode_module(const ptx::Module& module);

}  // namespace emulator::decode
