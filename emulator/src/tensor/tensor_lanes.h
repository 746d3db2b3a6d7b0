// Which cells of Tensor Memory the registers of tcgen05.ld and tcgen05.st stand for (PTX ISA, "Data movement
// shape"; CuTe's Copy_Traits of SM100_TMEM_LOAD_...). Thread t, register r, relative to the address:
//   32x32b    lane t                       column r
//   16x64b    lane t / 4 + 8 (t mod 2)     column t / 2 mod 2 + 2 r
//   16x128b   lane t / 4 + 8 (r mod 2)     column t mod 4 + 4 (r / 2)
//   16x256b   lane t / 4 + 8 (r / 2 mod 2) column 2 (t mod 4) + r mod 2 + 8 (r / 4)
//   16x32bx2  lane t mod 16                column r, and for the upper 16 threads the split added
// With pack::16b a register takes the low halves of columns 2 c and 2 c + 1 where it took column c.
#pragma once

#include <cstdint>
#include <string_view>

namespace emulator::exec {

enum class TensorLanes : std::uint8_t { b32x32, b16x64, b16x128, b16x256, b16x32x2 };

inline TensorLanes tensor_lanes(std::string_view shape) {
    using enum TensorLanes;
    return shape == "32x32b"    ? b32x32
           : shape == "16x64b"  ? b16x64
           : shape == "16x128b" ? b16x128
           : shape == "16x256b" ? b16x256
                                : b16x32x2;
}
inline std::uint32_t tensor_registers(TensorLanes shape, std::uint32_t count) {
    return count * (shape == TensorLanes::b16x128 ? 2 : shape == TensorLanes::b16x256 ? 4 : 1);
}
inline std::uint32_t tensor_rows(TensorLanes shape) { return shape == TensorLanes::b32x32 ? 32 : 16; }
// Columns of one row, without the second part of 16x32bx2.
inline std::uint32_t tensor_columns(TensorLanes shape, std::uint32_t count) {
    using enum TensorLanes;
    return count * (shape == b16x64 ? 2 : shape == b16x128 ? 4 : shape == b16x256 ? 8 : 1);
}

struct TensorCell {
    std::uint32_t lane = 0, column = 0;
    bool second = false;  // the split is to be added
};
inline TensorCell tensor_cell(TensorLanes shape, std::uint32_t t, std::uint32_t r) {
    switch (shape) {
        case TensorLanes::b32x32:
            return {t, r};
        case TensorLanes::b16x64:
            return {t / 4 + 8 * (t % 2), t / 2 % 2 + 2 * r};
        case TensorLanes::b16x128:
            return {t / 4 + 8 * (r % 2), t % 4 + 4 * (r / 2)};
        case TensorLanes::b16x256:
            return {t / 4 + 8 * (r / 2 % 2), 2 * (t % 4) + r % 2 + 8 * (r / 4)};
        default:
            return {t % 16, r, t >= 16};
    }
}

}  // namespace emulator::exec
