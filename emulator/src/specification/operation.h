// What an instruction computes from the values of one thread alone, straight from its section of the PTX ISA.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "emulator/src/ptx/parsed.h"

namespace emulator::specification {

struct Operation {
    std::vector<ptx::Type> sources;  // how each operand after the destination is read
    ptx::Type destination = ptx::Type::none;
    int destinations = 1;  // 2: setp's second predicate
    bool reads_carry = false, writes_carry = false;
    bool negates_itself = false;      // a minus before an operand is part of the operation (vmad)
    bool may_drop_the_first = false;  // `_|p` asks for the second destination alone (lop3)
    // d[0] (and d[1]) from the sources, in the low bits; a predicate is 0 or 1. With reads_carry the flag
    // stands after the sources; with writes_carry d[1] is the flag.
    std::function<void(const std::uint64_t* s, std::uint64_t* d)> compute;
};

// Nothing: not known.
std::optional<Operation> operation_of(const ptx::Instruction& instruction);

// The modifiers of an instruction, crossed out one by one; what is left over is not known.
class Words {
  public:
    explicit Words(const ptx::Instruction& instruction) : words_(instruction.modifiers) {}
    bool take(std::string_view word);
    std::optional<std::string> take_one_of(std::initializer_list<std::string_view> words);
    std::optional<ptx::Type> take_type();
    bool empty() const { return words_.empty(); }

  private:
    std::vector<std::string> words_;
};

int bits_of(ptx::Type type);
bool is_integer(ptx::Type type);
bool is_signed(ptx::Type type);
std::uint64_t truncated(std::uint64_t value, int bits);
std::uint64_t sign_extended(std::uint64_t value, int bits);

// By family; each gives nothing for an opcode or a form that is not its own.
std::optional<Operation> integer_operation(const ptx::Instruction& instruction);
std::optional<Operation> bit_operation(const ptx::Instruction& instruction);
std::optional<Operation> float_operation(const ptx::Instruction& instruction);
std::optional<Operation> comparison(const ptx::Instruction& instruction);
std::optional<Operation> conversion(const ptx::Instruction& instruction);
std::optional<Operation> narrow_conversion(const ptx::Instruction& instruction);
std::optional<Operation> video_operation(const ptx::Instruction& instruction);

// The smaller or larger of two floats: "min(+0, -0) is -0"; a NaN loses against a number, unless nan_wins.
struct Format;
std::uint64_t smaller(std::uint64_t a, std::uint64_t b, bool maximum, bool nan_wins, const Format& format);

}  // namespace emulator::specification
