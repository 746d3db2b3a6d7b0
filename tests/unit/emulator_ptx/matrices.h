// Matrices of small integers in the formats of tensor cores, and a bench that runs PTX on them.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "emulator/emulator.h"
#include "emulator/src/ptx/parsed.h"

namespace emulator::test {

using ptx::Type;

inline std::uint64_t encode(Type type, double value) {
    const auto integer = static_cast<std::int64_t>(value);
    switch (type) {
        case Type::f64:
            return std::bit_cast<std::uint64_t>(value);
        case Type::f32:
        case Type::tf32:
            return std::bit_cast<std::uint32_t>(static_cast<float>(value));
        case Type::bf16:
            return std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16;
        case Type::f16:
            return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
        case Type::e5m2:  // the upper byte of an f16
            return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value)) >> 8;
        case Type::e4m3: {  // integers of up to four bits
            const double size = value < 0 ? -value : value;
            if (size == 0) return 0;
            const int exponent = std::ilogb(size);
            const auto fraction = static_cast<std::uint64_t>((std::ldexp(size, -exponent) - 1) * 8);
            return (value < 0 ? 0x80u : 0u) | static_cast<std::uint64_t>(exponent + 7) << 3 | fraction;
        }
        case Type::s4:
        case Type::u4:
            return static_cast<std::uint64_t>(integer) & 15;
        case Type::s8:
        case Type::u8:
            return static_cast<std::uint64_t>(integer) & 255;
        default:
            return static_cast<std::uint64_t>(integer) & 0xffffffffu;
    }
}

inline double decode(Type type, std::uint64_t bits) {
    switch (type) {
        case Type::f64:
            return std::bit_cast<double>(bits);
        case Type::f32:
            return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        case Type::f16:
            return static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits)));
        default:
            return static_cast<std::int32_t>(bits);
    }
}

using Matrix = std::vector<double>;

inline Matrix draw(Type type, std::size_t count, std::mt19937& random) {
    Matrix matrix(count);
    for (double& x : matrix) {
        const int r = static_cast<int>(random() % 1000);
        switch (type) {
            case Type::s8:
                x = r % 256 - 128;
                break;
            case Type::u8:
                x = r % 256;
                break;
            case Type::s4:
                x = r % 16 - 8;
                break;
            case Type::u4:
                x = r % 16;
                break;
            case Type::e5m2:
                x = r % 9 - 4;
                break;
            case Type::b1:
                x = r % 2;
                break;
            default:
                x = r % 15 - 7;
        }
    }
    return matrix;
}

// Bit widths in memory; b1 matrices are packed along k.
inline std::uint32_t bits_of(Type type) {
    switch (type) {
        case Type::f64:
            return 64;
        case Type::f16:
        case Type::bf16:
            return 16;
        case Type::s8:
        case Type::u8:
        case Type::e4m3:
        case Type::e5m2:
            return 8;
        case Type::s4:
        case Type::u4:
            return 4;
        case Type::b1:
            return 1;
        default:
            return 32;
    }
}

inline void put_bits(std::vector<std::byte>& data, std::size_t bit, std::uint32_t width,
                     std::uint64_t value) {
    for (std::uint32_t i = 0; i < width; ++i) {
        const std::size_t at = bit + i;
        if ((value >> i) & 1) data[at / 8] |= static_cast<std::byte>(1u << (at % 8));
    }
}
inline std::uint64_t get_bits(const std::vector<std::byte>& data, std::size_t bit, std::uint32_t width) {
    std::uint64_t value = 0;
    for (std::uint32_t i = 0; i < width; ++i) {
        const std::size_t at = bit + i;
        value |= std::uint64_t{(std::to_integer<unsigned>(data[at / 8]) >> (at % 8)) & 1u} << i;
    }
    return value;
}

struct Executed {
    Outcome outcome;
    std::vector<std::byte> output;
    std::string error;
};

inline Executed run_ptx(const std::string& ptx, const std::vector<std::vector<std::byte>>& inputs,
                        std::size_t output_bytes, std::uint32_t threads = 32, const Options& options = {}) {
    Executed result;
    auto loaded = Module::load(ptx);
    if (const auto* error = std::get_if<LoadError>(&loaded)) {
        result.error = fmt::format("line {}: {} [{}]", error->ptx_line, error->message, error->instruction);
        return result;
    }
    Memory memory;
    Launch launch;
    launch.kernel = "k";
    launch.block.x = threads;
    const auto argument = [&](std::uint64_t address) {
        const auto* bytes = reinterpret_cast<const std::byte*>(&address);
        launch.arguments.insert(launch.arguments.end(), bytes, bytes + 8);
    };
    for (const auto& data : inputs) {
        const std::uint64_t address = memory.allocate("in", data.size(), BufferKind::input);
        memory.write(address, data);
        argument(address);
    }
    const std::uint64_t output = memory.allocate("out", output_bytes, BufferKind::output);
    argument(output);
    result.outcome = run(std::get<Module>(loaded), memory, launch, options);
    if (result.outcome.refused) result.error = result.outcome.refused->message;
    for (const Fault& fault : result.outcome.faults) result.error += fault.rule + ": " + fault.message + "\n";
    result.output = memory.read(output, output_bytes);
    return result;
}

inline std::string registers(const char* name, std::uint32_t count) {
    std::string list = "{";
    for (std::uint32_t i = 0; i < count; ++i) list += fmt::format("{}{}{}", i ? ", " : "", name, i);
    return list + "}";
}

}  // namespace emulator::test
