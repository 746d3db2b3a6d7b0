#include "emulator/src/specification/operation.h"

#include <algorithm>

namespace emulator::specification {

using ptx::Type;

bool Words::take(std::string_view word) {
    const auto at = std::find(words_.begin(), words_.end(), word);
    if (at == words_.end()) return false;
    words_.erase(at);
    return true;
}
std::optional<std::string> Words::take_one_of(std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words)
        if (take(word)) return std::string(word);
    return std::nullopt;
}
std::optional<Type> Words::take_type() {
    for (auto at = words_.begin(); at != words_.end(); ++at)
        if (const auto type = ptx::parse_type(*at)) {
            words_.erase(at);
            return type;
        }
    return std::nullopt;
}

int bits_of(Type type) { return static_cast<int>(8 * ptx::size_bytes(type)); }
bool is_signed(Type type) {
    return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}
bool is_integer(Type type) {
    switch (type) {
        case Type::b8:
        case Type::b16:
        case Type::b32:
        case Type::b64:
        case Type::u8:
        case Type::u16:
        case Type::u32:
        case Type::u64:
            return true;
        default:
            return is_signed(type);
    }
}
std::uint64_t truncated(std::uint64_t value, int bits) {
    return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}
std::uint64_t sign_extended(std::uint64_t value, int bits) {
    if (bits >= 64) return value;
    value = truncated(value, bits);
    return (value >> (bits - 1)) & 1 ? value - (std::uint64_t{1} << bits) : value;
}

std::optional<Operation> operation_of(const ptx::Instruction& instruction) {
    for (const auto family : {integer_operation, bit_operation, float_operation, comparison, conversion,
                              narrow_conversion, video_operation})
        if (auto operation = family(instruction)) return operation;
    return std::nullopt;
}

}  // namespace emulator::specification
