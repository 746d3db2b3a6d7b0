// Turns parsed PTX into exec::Program. One decode function per family of opcodes looks at modifiers and
// types, picks a handler by name and lists operands. Anything it does not know is `unsupported`, which is a
// fault when it is to be executed: a wrong guess would be a wrong result.
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
    using VariableNumbers = std::map<const ptx::Variable*, std::uint32_t>;
    Decoder(const ptx::Module& module, std::int32_t function, exec::FunctionCode& out,
            const VariableNumbers& variables, const exec::HandlerSet& handlers);

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
    Slot carry_flag();  // CC.CF
    Slot constant_predicate(bool value);
    bool append(Instr& out, const Slot& slot, bool is_destination);
    // Where a .local, in-body .param or device-function .param variable lies in the frame; nothing:
    // elsewhere.
    std::optional<std::int64_t> frame_offset(const ptx::Variable& variable) const;
    bool is_kernel_parameter(const ptx::Variable& variable) const;
    // Destinations (the first operand) and the rest as sources of these types.
    bool simple(Instr& out, const ptx::Instruction& in, Type destination_type,
                std::initializer_list<Type> source_types);
    Slot narrow_constant(std::uint32_t value);
    Slot wide_constant(std::uint64_t value);

  private:
    const VariableNumbers& variables_;
    const exec::HandlerSet& handlers_;
    std::map<std::uint32_t, std::uint32_t> narrow_pool_;
    std::map<std::uint64_t, std::uint32_t> wide_pool_;
    std::int64_t scratch_narrow_ = -1, scratch_wide_ = -1, scratch_predicate_ = -1, carry_ = -1;

    bool symbol(Instr& out, const ptx::Symbol& symbol, Type type, std::int64_t offset);
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
void add_arithmetic(DecodeTable& table);
void add_logic(DecodeTable& table);
void add_convert(DecodeTable& table);
void add_move(DecodeTable& table);
void add_memory(DecodeTable& table);
void add_control(DecodeTable& table);
void add_warp(DecodeTable& table);
void add_async(DecodeTable& table);
void add_video(DecodeTable& table);
void add_tensor(DecodeTable& table);  // emulator/src/tensor/
void add_wgmma(DecodeTable& table);   // as well
void add_tcgen05(DecodeTable& table);

// Shared by the families.
bool read_special(Decoder& decoder, const ptx::Operand& to, const ptx::Special& special, std::uint32_t bits,
                  Instr& out);  // mov, cvt: keeps that many bits of a special register
bool is_integer(Type type);
bool is_signed(Type type);
std::string bits_name(Type type);                        // ".b32" for u32, s32, b32, f32 ...
std::string typed_name(Type type);                       // ".u32" for b32 and u32, ".s32" for s32
std::optional<int> comparison(const std::string& name);  // eq 0 .. ge 5, equ 6 .. geu 11, num 12, nan 13

// Never fails: an instruction that is not known becomes Control::unsupported.
exec::Program decode_module(const ptx::Module& module, const exec::HandlerSet& handlers);

// How undefined bits pass through an instruction: sets Instr::flow (data_flow.cc).
void set_flow(const ptx::Instruction& in, Instr& out);
// The registers that some path from the function's entry reads before it writes them, never-written ones
// included. A predicated write is no write here. Needs the function's code complete.
std::vector<Slot> unwritten_registers(const exec::FunctionCode& code);
// The atomics whose results no instruction of the function reads.
void mark_blind_atomics(const exec::FunctionCode& code, exec::Program& program);

// Module variables that some instruction may store to (variable_use.cc).
std::set<const ptx::Variable*> written_variables(const ptx::Module& module);

}  // namespace emulator::decode
